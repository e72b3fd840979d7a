// run_case() runs one case of the contract suite with one allocator.
#pragma once

#include "tests/contract/cases.hpp"

namespace allocbench::contract {

// An exception of the case, such as a fault of the device, becomes a problem in the report. On the CPU, the case runs
// in a process of its own. So a wild access also becomes a problem, and the other cases continue.
Report run_case(const Case& tested, const AllocatorType& type);

}  // namespace allocbench::contract
