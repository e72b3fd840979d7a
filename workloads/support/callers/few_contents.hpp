// This file checks the contents of blocks with one malloc and one free by each of a few callers. It is for cells whose
// observed passes take too long.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

struct FewContents {
  // Check of the few callers' pointers. Nulls are not mistakes, because the pool need not have room for all requests of
  // a cell at once.
  PointerCheck pointers;
  std::string problem;       // mistakes in the contents, or empty
  std::uint32_t served = 0;  // callers whose blocks were checked
};

// `own` is the allocator of the cell, without blocks before and after the call. `rules` are the rules for its pointers.
FewContents check_few_contents(simt::Stream& stream, const RequestProfile& few, const PointerRules& rules,
                               const AllocatorHandle& own);

// Returns "checked: 1,024 of 1,000,000 callers", or "checked" if all callers were checked.
std::string checked_callers(std::uint32_t served, std::uint32_t all);

}  // namespace allocbench
