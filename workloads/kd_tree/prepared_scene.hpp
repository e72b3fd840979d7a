// A scene with its reference tree, made once per process, or once for all processes of a run (stored_scene.hpp): the
// cells of a worker build the same few scenes again and again.
#pragma once

#include <memory>
#include <string>

#include "workloads/kd_tree/reference_tree.hpp"

namespace allocbench::kd_tree {

struct SceneChoice {
  std::string scene;            // a file's name or "terrain", "spheres", "soup"
  std::uint32_t triangles = 0;  // of a generated scene
  std::uint32_t subdivisions = 0;
  std::uint32_t depth_limit = 0;    // 0: by the number of triangles
  std::uint32_t failed_splits = 0;  // 0: by the depth limit
  std::uint64_t seed = 0;           // of a generated scene

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

// Throws std::invalid_argument if there is no such scene, its file is wrong, or it is too large to index.
std::shared_ptr<const PreparedScene> prepared_scene(const SceneChoice& choice);

// The triangles alone.
std::vector<Triangle> triangles_of(const SceneChoice& choice);

}  // namespace allocbench::kd_tree
