// This file loads the allocators of a worker, from all plug-ins in the worker's folders or from one plug-in. A plug-in
// has one or more parts, each in its own file.
#pragma once

#include <string>

#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// Loads plug-ins. `backend` is "cpu" or "cuda", and `workloads` are those of the registry. If `only` is empty, all
// usable plug-ins are loaded, and the registry lists the others. If no plug-in has the name `only`, the registry has no
// allocators. Throws BadPlugin (harness/plugins/shared_objects.hpp) if a folder of ALLOCBENCH_PLUGINS is missing or
// `only` is unusable, and std::runtime_error for names that clash.
Registry load_plugins(const std::string& backend, std::vector<WorkloadType> workloads, const std::string& only = "");

}  // namespace allocbench::worker
