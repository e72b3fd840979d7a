// This file has the allocators of a worker. The allocators come from every plug-in part in the worker's folders, or
// from the parts of one plug-in.
#pragma once

#include <string>

#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// Loads plug-ins. `backend` is "cpu" or "cuda", and `workloads` are those of the registry. If `only` is empty, all
// usable plug-ins are loaded, and the registry lists the others. Throws BadPlugin (harness/plugins/shared_objects.hpp)
// for a missing folder and for an unusable `only`, and std::runtime_error for names that clash.
Registry load_plugins(const std::string& backend, std::vector<WorkloadType> workloads, const std::string& only = "");

}  // namespace allocbench::worker
