#include "workloads/kd_tree/stored_scene.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <system_error>
#include <type_traits>

namespace allocbench::kd_tree {
namespace {

namespace fs = std::filesystem;

// A file is this header, the choice as text, and the boxes.
struct Header {
  std::uint64_t choice_bytes = 0;
  std::uint64_t boxes = 0;
  Box bounds{};
  ReferenceTree reference;
};
static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<TriangleBox>);

std::string text_of(const SceneChoice& choice) {
  std::string text = choice.scene;
  for (const std::uint64_t number :
       {std::uint64_t{choice.triangles}, std::uint64_t{choice.subdivisions}, std::uint64_t{choice.depth_limit},
        std::uint64_t{choice.failed_splits}, choice.seed}) {
    text += ' ' + std::to_string(number);
  }
  return text;
}

std::optional<fs::path> file_of(const std::string& choice) {
  const char* const folder = std::getenv("ALLOCBENCH_SCRATCH");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return fs::path(folder) / ("scene-" + std::to_string(std::hash<std::string>{}(choice)));
}

template <class Value>
void write_bytes(std::ofstream& file, const Value* values, std::size_t count) {
  file.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(count * sizeof(Value)));
}
template <class Value>
bool read_bytes(std::ifstream& file, Value* values, std::size_t count) {
  return static_cast<bool>(
      file.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(count * sizeof(Value))));
}

}  // namespace

std::shared_ptr<const PreparedScene> read_stored(const SceneChoice& choice) {
  const std::string text = text_of(choice);
  const std::optional<fs::path> path = file_of(text);
  if (!path) return nullptr;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(*path, error);
  std::ifstream file(*path, std::ios::binary);
  Header header;
  if (error || !read_bytes(file, &header, 1) || header.choice_bytes != text.size()) return nullptr;
  if (bytes != sizeof header + text.size() + header.boxes * sizeof(TriangleBox)) return nullptr;
  std::string found(text.size(), '\0');
  if (!read_bytes(file, found.data(), found.size()) || found != text) return nullptr;
  auto scene = std::make_shared<PreparedScene>();
  scene->boxes.resize(header.boxes);
  if (!read_bytes(file, scene->boxes.data(), scene->boxes.size())) return nullptr;
  scene->bounds = header.bounds;
  scene->reference = header.reference;
  return scene;
}

// Under a name of its own first: a process that reads meanwhile finds the whole file or none.
void store(const SceneChoice& choice, const PreparedScene& scene) {
  const std::string text = text_of(choice);
  const std::optional<fs::path> path = file_of(text);
  if (!path) return;
  fs::path own = *path;
  own += "-" + std::to_string(getpid());
  const Header header{text.size(), scene.boxes.size(), scene.bounds, scene.reference};
  std::ofstream file(own, std::ios::binary);
  write_bytes(file, &header, 1);
  write_bytes(file, text.data(), text.size());
  write_bytes(file, scene.boxes.data(), scene.boxes.size());
  file.close();
  std::error_code error;
  if (file) fs::rename(own, *path, error);
  if (!file || error) fs::remove(own, error);
}

}  // namespace allocbench::kd_tree
