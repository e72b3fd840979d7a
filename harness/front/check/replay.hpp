// This file repeats one run of `allocbench check` and, with --shrink, shortens its schedule. A race has no schedule.
#pragma once

#include "harness/front/check/check_command.hpp"

namespace allocbench::front {

// Executes `--replay` and returns the exit code.
int replay(const CheckOptions& options);

}  // namespace allocbench::front
