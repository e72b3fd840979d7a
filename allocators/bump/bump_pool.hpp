// BumpPool is the common part of the bump allocators: a pool and a word to which requests add their bytes. Free does
// nothing.
#pragma once

#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

class BumpPool {
 public:
  using Parameters = NoParameters;

  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) {
    return pool_bytes / granule_bytes * granule_bytes;
  }
  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 1024}; }

  void reset(simt::Stream& stream) { simt::device_fill(stream, next_, 0, sizeof *next_); }

  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

 protected:
  void lay_out(Arena& arena) {
    base_ = arena.pool().base;
    limit_.bytes = max_request(arena.pool_bytes(), {});
    next_ = arena.metadata<std::uint64_t>(1);
  }
  // Returns the bytes that a request takes.
  static SIMT_FN std::uint64_t rounded_up(std::size_t bytes) {
    return units_of(std::uint64_t{bytes}, granule_log2) * granule_bytes;
  }

  std::byte* base_ = nullptr;
  RequestLimit limit_;  // largest request, and the end of the pool
  std::uint64_t* next_ = nullptr;

 private:
  static constexpr std::uint32_t granule_log2 = 4;
  static constexpr std::uint64_t granule_bytes = 1u << granule_log2;
};

}  // namespace allocbench
