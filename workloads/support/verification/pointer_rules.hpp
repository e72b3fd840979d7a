// This file has the rules for the pointers of one allocator on its arena.
#pragma once

#include "allocators/support/contract/arena.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

// `arena` is the arena of the allocator and must outlive the rules.
PointerRules pointer_rules(const AllocatorHandle& allocator, Arena& arena, bool check_overlap);

// Adds the facts for the judgement of nulls, for an allocator that was empty at the start of the sample.
void add_room(PointerRules& rules, const RunSetting& setting);

}  // namespace allocbench
