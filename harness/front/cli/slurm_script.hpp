// `allocbench study GROUP --slurm N` prints a script that submits the shards of a study and the job that merges them.
#pragma once

#include <string>

#include "harness/front/cli/command_line.hpp"

namespace allocbench::front {

// Returns the script. `program` is the program that the jobs call.
std::string slurm_script(const StudyOptions& study, const std::string& program);

}  // namespace allocbench::front
