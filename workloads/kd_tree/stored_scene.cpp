#include "workloads/kd_tree/stored_scene.hpp"

#include <span>
#include <string>
#include <type_traits>

#include "workloads/support/inputs/stored_value.hpp"

namespace allocbench::kd_tree {
namespace {

// A stored scene consists of this header and the boxes.
struct Header {
  std::uint64_t boxes = 0;
  Box bounds{};
  ReferenceTree reference;
};
static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<TriangleBox>);

std::string key_of(const SceneChoice& choice) {
  return stored_key("scene " + choice.scene,
                    {choice.triangles, choice.subdivisions, choice.depth_limit, choice.failed_splits, choice.seed});
}

}  // namespace

std::shared_ptr<const PreparedScene> read_stored(const SceneChoice& choice) {
  std::optional<StoredValue> stored = StoredValue::open(key_of(choice));
  Header header;
  if (!stored || !stored->read(&header, 1) || stored->bytes() != header.boxes * sizeof(TriangleBox)) return nullptr;
  auto scene = std::make_shared<PreparedScene>();
  scene->boxes.resize(header.boxes);
  if (!stored->read(scene->boxes.data(), scene->boxes.size())) return nullptr;
  scene->bounds = header.bounds;
  scene->reference = header.reference;
  return scene;
}

void store(const SceneChoice& choice, const PreparedScene& scene) {
  const Header header{scene.boxes.size(), scene.bounds, scene.reference};
  store_value(key_of(choice),
              {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(scene.boxes.data(), scene.boxes.size()))});
}

}  // namespace allocbench::kd_tree
