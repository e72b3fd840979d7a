// Arena owns, counts and frees the device memory of one allocator instance: its pool, unless the caller gives one, and
// its metadata.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "simt/simt.hpp"

namespace allocbench {

// Pool is the block of device memory that an allocator manages.
struct Pool {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

class Arena {
 public:
  // `pool_bytes` is the size that the cell requests. The constructor allocates nothing.
  Arena(simt::Stream& stream, std::size_t pool_bytes) : stream_(stream), pool_bytes_(pool_bytes) {}

  // Uses a pool of the caller. This pool must outlive the arena.
  Arena(simt::Stream& stream, Pool given) : stream_(stream), pool_bytes_(given.bytes), given_(given) {}

  // Returns the pool, which the first call allocates unless the caller gave one. The base of an allocated pool is
  // aligned to at least 256 bytes.
  Pool pool() { return pool(pool_bytes_); }

  // Returns a pool of `bytes`, for designs that keep a part of pool_bytes() elsewhere
  // (PoolLocation::arena_and_device_heap). The first call determines the size of an allocated pool.
  Pool pool(std::size_t bytes) {
    if (given_.base != nullptr) return {given_.base, bytes};
    if (pool_.size() == 0) pool_ = simt::Buffer<std::byte>(bytes);
    return {pool_.data(), pool_.size()};
  }

  // Returns device memory for `count` objects outside the pool, with all bytes zero. Results report it as metadata.
  template <class T>
  T* metadata(std::size_t count) {
    simt::Buffer<std::byte> memory(count * sizeof(T));
    memory.fill_bytes(stream_, 0);
    metadata_.push_back(std::move(memory));
    metadata_bytes_ += count * sizeof(T);
    return reinterpret_cast<T*>(metadata_.back().data());
  }

  // Returns all memory of the arena: the pool, then the metadata.
  std::vector<std::span<std::byte>> parts() const {
    std::vector<std::span<std::byte>> result;
    if (given_.base != nullptr) {
      result.emplace_back(given_.base, given_.bytes);
    } else {
      result.emplace_back(pool_.data(), pool_.size());
    }
    for (const simt::Buffer<std::byte>& memory : metadata_) result.emplace_back(memory.data(), memory.size());
    return result;
  }

  bool has_pool() const { return given_.base != nullptr || pool_.size() != 0; }
  std::size_t pool_bytes() const { return pool_bytes_; }
  std::size_t metadata_bytes() const { return metadata_bytes_; }
  simt::Stream& stream() const { return stream_; }

 private:
  simt::Stream& stream_;
  std::size_t pool_bytes_;
  std::size_t metadata_bytes_ = 0;
  Pool given_;
  simt::Buffer<std::byte> pool_;
  std::vector<simt::Buffer<std::byte>> metadata_;
};

}  // namespace allocbench
