// CheckPlan lists the allocators that `allocbench check` searches for bugs, and the models (small test programs) that
// it runs on them. The checking workers offer allocators and built-in models. The command line may select some of them
// and add models from files.
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
  std::optional<WorkerProgram> race_seer;  // worker of the race build (ThreadSanitizer); empty if not built or wanted
  std::vector<std::string> allocators;
  std::vector<std::string> race_allocators;  // allocators that the race build can run
  // `complete` is false if a search for races is wanted but the race build is missing or lacks an allocator of the
  // plan. It is also false if the command line names no allocator and a plug-in is unusable.
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
