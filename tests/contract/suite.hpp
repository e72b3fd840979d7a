// Runs one case with one allocator.
#pragma once

#include "tests/contract/cases.hpp"

namespace allocbench::contract {

// What the case throws, a fault of the device for one, is a problem of the report. On the CPU it runs in a process of
// its own, so that a wild access is a problem too and the other cases go on.
Report run_case(const Case& tested, const AllocatorType& type);

}  // namespace allocbench::contract
