// These functions read and write NumPy's file format for arrays of one dimension (NEP 1, version 1.0).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

namespace allocbench::traces {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

// Returns the element type of an array in NumPy's notation, such as "<u4".
template <class T>
constexpr const char* npy_type() {
  static_assert(std::is_unsigned_v<T> && (sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8));
  return sizeof(T) == 1 ? "|u1" : sizeof(T) == 4 ? "<u4" : "<u8";
}

// Reads an array of this type from `path` or `path`.gz. On failure, throws TraceError with the file's name.
std::vector<std::byte> read_npy(const std::filesystem::path& path, const char* type);
void write_npy(const std::filesystem::path& path, const char* type, const void* data, std::size_t count,
               std::size_t bytes_of_one);

}  // namespace allocbench::traces
