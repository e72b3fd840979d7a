// CheckPlan has the allocators and models to check. The workers offer allocators and built-in models. The command line
// selects some of them, and may add models from files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/front/check/check_command.hpp"
#include "harness/front/workers/worker_program.hpp"
#include "protocol/checker_description.hpp"

namespace allocbench::front {

struct CheckPlan {
  WorkerProgram searcher;
  std::optional<WorkerProgram> race_seer;  // race build's worker; empty if it is not built or not wanted
  std::vector<std::string> allocators;
  std::vector<std::string> race_allocators;  // allocators that the race build can run
  // It is false if a search for races is wanted but the race build is missing or lacks an allocator of the plan. It is
  // also false if no allocator is named and a plug-in is unusable.
  bool complete = true;
  std::vector<protocol::Model> models;
  std::vector<std::string> model_files;  // file of each model; empty for built-in models
};

// Returns what the worker offers. Warns about unusable plug-ins.
protocol::CheckerDescription describe_checker(const WorkerProgram& program);

// Throws UsageError for names that do not exist and for model files that cannot be read. Throws EnvironmentError if the
// worker of the search is missing or does not describe itself.
CheckPlan make_check_plan(const CheckOptions& options);

}  // namespace allocbench::front
