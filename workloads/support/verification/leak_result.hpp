// LeakResult is the result of a leak check.
#pragma once

#include <cstdint>
#include <string>

namespace allocbench {

struct LeakResult {
  std::uint64_t rounds = 0;
  std::string verdict;  // "checked", "checked: ..., no leak", "partial: ..." or "waived: ..."
  // Requests that got null although the same requests were served together in an earlier round and all blocks were
  // freed.
  std::uint64_t spurious_nulls = 0;
  std::uint32_t callers = 0;  // callers of a round
  bool complete = true;       // whether all rounds ran within the budget
};

}  // namespace allocbench
