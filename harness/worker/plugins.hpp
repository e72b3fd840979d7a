// The allocators of a worker: every plug-in part in its folders.
#pragma once

#include <string>

#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// `backend` is "cpu" or "cuda". Throws BadPlugin (harness/plugins/shared_objects.hpp) or, for names that clash,
// std::runtime_error.
Registry load_plugins(const std::string& backend);

}  // namespace allocbench::worker
