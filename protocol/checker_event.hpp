// These are the answers of a checking worker. harness/README.md describes them in a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "protocol/event.hpp"

namespace allocbench::protocol {

struct CheckerReady {
  std::uint64_t protocol = 0;
  bool races = false;
};

// One run of a model.
struct CheckedRun {
  std::uint64_t seed = 0;
  std::string outcome;  // "ok", "failed check", "race" ...
  std::string summary;  // result in one line
  std::string report;
  std::string schedule;  // decisions as text; empty if the outcome is a race or the text is too long
  std::uint64_t decisions = 0;

  bool operator==(const CheckedRun&) const = default;
};

struct Explored {
  std::uint64_t tried = 0;   // runs made
  std::uint64_t failed = 0;  // runs that failed
  std::uint64_t steps = 0;
  bool exhausted = false;  // whether dfs has no more schedules
  std::optional<CheckedRun> first;
};

struct Replayed {
  std::uint64_t times = 0;
  std::uint64_t identical = 0;
  CheckedRun run;
};

struct Shrunk {
  std::uint64_t runs = 0;
  CheckedRun run;
};

// The allocator cannot run the model.
struct Unsupported {
  std::string reason;
};

// The strategy or the schedule of the user is wrong. Only the worker can detect this.
struct Refused {
  std::string reason;
};

using CheckerEvent = std::variant<CheckerReady, Explored, Replayed, Shrunk, Unsupported, Refused, ProtocolError>;

}  // namespace allocbench::protocol
