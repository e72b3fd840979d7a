#include "workloads/kd_tree/prepared_scene.hpp"

#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "workloads/kd_tree/stored_scene.hpp"

namespace allocbench::kd_tree {
namespace {

// A scene of a million triangles has 32 MB of boxes.
constexpr std::size_t most_kept = 24;
constexpr std::size_t most_triangles = std::size_t{1} << 25;

struct Kept {
  SceneChoice choice;
  std::shared_ptr<const PreparedScene> scene;
};

std::shared_ptr<const PreparedScene> prepare(const SceneChoice& choice) {
  auto scene = std::make_shared<PreparedScene>();
  scene->boxes = boxes_of(triangles_of(choice));
  if (scene->boxes.size() > most_triangles) {
    throw std::invalid_argument("scene " + choice.scene + " has " + std::to_string(scene->boxes.size()) +
                                " triangles, allowed: up to " + std::to_string(most_triangles));
  }
  scene->bounds = bounds_of(scene->boxes);
  const auto limits =
      Limits::of(static_cast<std::uint32_t>(scene->boxes.size()), choice.depth_limit, choice.failed_splits);
  scene->reference = build_reference(scene->boxes, limits);
  if (scene->reference.references > Node::most_first || scene->reference.leaves > Node::most_first) {
    throw std::invalid_argument("the tree of scene " + choice.scene + " has " +
                                std::to_string(scene->reference.references) + " references and " +
                                std::to_string(scene->reference.leaves) + " leaves, allowed: up to " +
                                std::to_string(Node::most_first) + " of each");
  }
  return scene;
}

}  // namespace

std::vector<Triangle> triangles_of(const SceneChoice& choice) {
  std::vector<Triangle> triangles = choice.scene == "terrain"   ? generate_terrain(choice.triangles, choice.seed)
                                    : choice.scene == "spheres" ? generate_spheres(choice.triangles, choice.seed)
                                    : choice.scene == "soup"    ? generate_soup(choice.triangles, choice.seed)
                                                                : read_scene(choice.scene);
  std::size_t after = triangles.size();
  for (std::uint32_t i = 0; i < choice.subdivisions; ++i) after *= 4;
  if (after > most_triangles) {
    throw std::invalid_argument("scene " + choice.scene + " would have " + std::to_string(after) +
                                " triangles, allowed: up to " + std::to_string(most_triangles));
  }
  return subdivide(std::move(triangles), choice.subdivisions);
}

std::shared_ptr<const PreparedScene> prepared_scene(const SceneChoice& choice) {
  static std::mutex mutex;
  static std::deque<Kept> kept;
  const std::lock_guard lock(mutex);
  SceneChoice key = choice;
  if (!SceneChoice::is_generated(key.scene)) key.seed = key.triangles = 0;
  for (const Kept& each : kept) {
    if (each.choice == key) return each.scene;
  }
  if (kept.size() == most_kept) kept.pop_front();
  std::shared_ptr<const PreparedScene> scene = read_stored(key);
  if (scene == nullptr) {
    scene = prepare(key);
    store(key, *scene);
  }
  kept.push_back({key, std::move(scene)});
  return kept.back().scene;
}

}  // namespace allocbench::kd_tree
