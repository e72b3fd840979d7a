// Prepared scenes in files that the worker processes of one run share: each process would otherwise read every scene
// and build its reference tree again.
#pragma once

#include <memory>

#include "workloads/kd_tree/prepared_scene.hpp"

namespace allocbench::kd_tree {

// Nothing where no process stored this scene in the folder that the environment variable ALLOCBENCH_SCRATCH names,
// where the variable is not set, or where the file is not whole.
std::shared_ptr<const PreparedScene> read_stored(const SceneChoice& choice);

// Does nothing without that folder, or where it has no room: a stored scene saves time and no more.
void store(const SceneChoice& choice, const PreparedScene& scene);

}  // namespace allocbench::kd_tree
