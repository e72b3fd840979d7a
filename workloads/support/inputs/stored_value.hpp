// StoredValue is a value in a file that the worker processes of a run share. Such values are inputs and references that
// each process would otherwise compute again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace allocbench {

// Reads the file of a stored value from its beginning.
class StoredValue {
 public:
  // Opens the value of this key in the folder that the environment variable ALLOCBENCH_SCRATCH names. Returns nothing
  // if no process stored it, the file cannot be read, or the variable is not set.
  static std::optional<StoredValue> open(const std::string& key);

  // Reads `count` values. Returns false if the file has fewer bytes left.
  template <class T>
  bool read(T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count > left_ / sizeof(T)) return false;
    left_ -= count * sizeof(T);
    return static_cast<bool>(
        file_.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(count * sizeof(T))));
  }
  // Returns the number of bytes left to read.
  std::uint64_t bytes() const { return left_; }

 private:
  StoredValue(std::ifstream file, std::uint64_t bytes) : file_(std::move(file)), left_(bytes) {}

  std::ifstream file_;
  std::uint64_t left_;
};

// Returns a key made of a text and the values on which the stored value depends.
std::string stored_key(std::string text, std::initializer_list<std::uint64_t> numbers);

// Stores a value. Does nothing if there is no folder or no room in it, because a stored value only saves time.
void store_value(const std::string& key, std::span<const std::span<const std::byte>> parts);
inline void store_value(const std::string& key, std::initializer_list<std::span<const std::byte>> parts) {
  store_value(key, std::span(parts.begin(), parts.size()));
}

}  // namespace allocbench
