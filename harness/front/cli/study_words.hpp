// The options of a study as words of a command line: for the processes of --device all and for scripts.
#pragma once

#include <string>
#include <vector>

#include "harness/front/cli/command_line.hpp"

namespace allocbench::front {

// How a study measures. Without what is measured, where (--only, --out, --device, --backend) and by whom.
std::vector<std::string> measuring_words(const RunOptions& run);

}  // namespace allocbench::front
