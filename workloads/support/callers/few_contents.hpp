// Contents of the blocks of few callers: a malloc and a free of each, for cells whose observed passes take too long.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

struct FewContents {
  PointerCheck pointers;     // of the few; nulls are no mistakes, because the cell need not hold its requests together
  std::string problem;       // with their contents; empty: none
  std::uint32_t served = 0;  // callers whose blocks were looked at
};

// `own` is the allocator of the cell, with nothing allocated; it keeps nothing. `rules` are those for its pointers.
FewContents check_few_contents(simt::Stream& stream, const RequestProfile& few, const PointerRules& rules,
                               const AllocatorHandle& own);

// "checked: 1,024 of 1,000,000 callers"; "checked" where these are all.
std::string checked_callers(std::uint32_t served, std::uint32_t all);

}  // namespace allocbench
