// The allocators of a worker: every plug-in part in its folders, or those of one plug-in.
#pragma once

#include <string>

#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// `backend` is "cpu" or "cuda", and `workloads` are those of the registry. An empty `only` loads all usable plug-ins,
// and the registry lists the others. Throws BadPlugin (harness/plugins/shared_objects.hpp) for a missing folder and for
// an unusable `only`, and std::runtime_error for names that clash.
Registry load_plugins(const std::string& backend, std::vector<WorkloadType> workloads, const std::string& only = "");

}  // namespace allocbench::worker
