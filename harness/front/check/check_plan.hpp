// Which allocators on which models: what the checking workers offer, narrowed by the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/front/check/check_command.hpp"
#include "harness/front/run/worker_program.hpp"
#include "protocol/checker_description.hpp"

namespace allocbench::front {

struct CheckPlan {
  WorkerProgram searcher;
  std::optional<WorkerProgram> race_seer;  // none when it is not built or not wanted
  std::vector<std::string> allocators;
  std::vector<std::string> race_allocators;  // those of them that the race seer has
  bool complete = true;                      // no allocator that was asked for is left out, with its races
  std::vector<protocol::Model> models;
  std::vector<std::string> model_files;  // by model; empty for built-in ones
};

// Warns about plug-ins that cannot be used.
protocol::CheckerDescription describe_checker(const WorkerProgram& program);

// Throws UsageError for names that do not exist and model files that cannot be read.
CheckPlan make_check_plan(const CheckOptions& options);

}  // namespace allocbench::front
