#include "workloads/support/inputs/stored_value.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

namespace allocbench {
namespace {

namespace fs = std::filesystem;

// A file consists of the number of bytes of the key, the key, and the value.
std::optional<fs::path> file_of(const std::string& key) {
  const char* const folder = std::getenv("ALLOCBENCH_SCRATCH");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return fs::path(folder) / ("value-" + std::to_string(std::hash<std::string>{}(key)));
}

}  // namespace

std::optional<StoredValue> StoredValue::open(const std::string& key) {
  const std::optional<fs::path> path = file_of(key);
  if (!path) return std::nullopt;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(*path, error);
  if (error) return std::nullopt;
  StoredValue value(std::ifstream(*path, std::ios::binary), bytes);
  std::uint64_t key_bytes = 0;
  if (!value.read(&key_bytes, 1) || key_bytes != key.size()) return std::nullopt;
  std::string found(key.size(), '\0');
  if (!value.read(found.data(), found.size()) || found != key) return std::nullopt;
  return value;
}

std::string stored_key(std::string text, std::initializer_list<std::uint64_t> numbers) {
  for (const std::uint64_t number : numbers) text += ' ' + std::to_string(number);
  return text;
}

// The file has a temporary name while it is written, so another process reads the whole file or none.
void store_value(const std::string& key, std::span<const std::span<const std::byte>> parts) {
  const std::optional<fs::path> path = file_of(key);
  if (!path) return;
  fs::path own = *path;
  own += "-" + std::to_string(getpid());
  const std::uint64_t key_bytes = key.size();
  std::ofstream file(own, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&key_bytes), sizeof key_bytes);
  file.write(key.data(), static_cast<std::streamsize>(key.size()));
  for (const std::span<const std::byte> part : parts) {
    file.write(reinterpret_cast<const char*>(part.data()), static_cast<std::streamsize>(part.size()));
  }
  file.close();
  std::error_code error;
  if (file) fs::rename(own, *path, error);
  if (!file || error) fs::remove(own, error);
}

}  // namespace allocbench
