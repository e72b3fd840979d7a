// This file turns the options of measuring back into the words of a command line, for commands that continue a run, for
// the processes of --device all and for the script of --slurm.
#pragma once

#include <string>
#include <vector>

#include "harness/front/cli/command_line.hpp"

namespace allocbench::front {

// Returns the options of measuring, without those that select configs, folders and devices (--only, --out, --device,
// --backend), and without --quiet.
std::vector<std::string> measuring_words(const RunOptions& run);

}  // namespace allocbench::front
