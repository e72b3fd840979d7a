// A stored scene is a prepared scene that the worker processes of one run share
// (workloads/support/inputs/stored_value.hpp). Without stored scenes each process would read every scene and build its
// reference tree again.
#pragma once

#include <memory>

#include "workloads/kd_tree/prepared_scene.hpp"

namespace allocbench::kd_tree {

// Returns nothing if no process of the run stored this scene or the file is not complete.
std::shared_ptr<const PreparedScene> read_stored(const SceneChoice& choice);

void store(const SceneChoice& choice, const PreparedScene& scene);

}  // namespace allocbench::kd_tree
