// PreparedScene is a scene with its reference tree. A process keeps up to 24 recent scenes, because its cells use the
// same few scenes repeatedly. The processes of a run share scenes (stored_scene.hpp).
#pragma once

#include <memory>
#include <string>

#include "workloads/kd_tree/reference_tree.hpp"

namespace allocbench::kd_tree {

struct SceneChoice {
  std::string scene;            // name of a file, or "terrain", "spheres" or "soup"
  std::uint32_t triangles = 0;  // triangles of a generated scene
  std::uint32_t subdivisions = 0;
  std::uint32_t depth_limit = 0;    // depth limit; 0: follows from the number of triangles
  std::uint32_t failed_splits = 0;  // limit of failed splits; 0: follows from the depth limit
  std::uint64_t seed = 0;           // seed of a generated scene

  static bool is_generated(const std::string& scene) {
    return scene == "terrain" || scene == "spheres" || scene == "soup";
  }
  friend bool operator==(const SceneChoice&, const SceneChoice&) = default;
};

struct PreparedScene {
  std::vector<TriangleBox> boxes;
  Box bounds;
  ReferenceTree reference;
};

// Returns the scene. Throws std::invalid_argument if there is no such scene, its file is wrong, or it is too large.
std::shared_ptr<const PreparedScene> prepared_scene(const SceneChoice& choice);

// Returns the triangles without a reference tree.
std::vector<Triangle> triangles_of(const SceneChoice& choice);

}  // namespace allocbench::kd_tree
