// The allocators of a worker: every plug-in part in its folders, or those of one plug-in.
#pragma once

#include <string>

#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// `backend` is "cpu" or "cuda"; `workloads` are those of the registry; an empty `only` loads all that can be used, and
// the registry tells of the others. Throws BadPlugin (harness/plugins/shared_objects.hpp) for a missing folder and for
// an unusable `only`, and std::runtime_error for names that clash.
Registry load_plugins(const std::string& backend, std::vector<WorkloadType> workloads, const std::string& only = "");

}  // namespace allocbench::worker
