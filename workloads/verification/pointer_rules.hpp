// The rules for the pointers of one allocator on its arena.
#pragma once

#include "allocators/contract/arena.hpp"
#include "allocators/contract/traits.hpp"
#include "workloads/verification/pointer_check.hpp"

namespace allocbench {

// `arena` is that of a created allocator and must outlive the rules.
PointerRules pointer_rules(const Traits& traits, Arena& arena, bool check_overlap);

}  // namespace allocbench
