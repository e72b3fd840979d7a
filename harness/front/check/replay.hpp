// This file shows one run again, and shortens it.
#pragma once

#include "harness/front/check/check_command.hpp"

namespace allocbench::front {

// Executes `--replay` and returns the exit code.
int replay(const CheckOptions& options);

}  // namespace allocbench::front
