// Pools that requests filled, kept as copies of the arena's memory.
//
// Some published designs take a second to fill a pool (ScatterAlloc, Ouroboros P-VL), and a figure starts hundreds of
// samples from the same few full pools. One fill of each serves all cells of an instance.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "allocators/contract/arena.hpp"
#include "simt/simt.hpp"

namespace allocbench {

class FilledPool {
 public:
  // What filled it, from a fresh state: `count` requests of `bytes`, one per caller of such a grid.
  struct Requests {
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    std::uint32_t threads_per_block = 0;
    std::uint32_t lanes_per_warp = 0;
    bool operator==(const Requests&) const = default;
  };

  // Copies the arena as it is and the `count` blocks that the requests got. Throws Fault where the device has too
  // little memory.
  FilledPool(const Arena& arena, const Requests& requests, void* const* blocks);

  // What such a copy takes.
  static std::size_t bytes_for(const Arena& arena, const Requests& requests);

  const Requests& requests() const { return requests_; }
  std::size_t bytes() const;
  // Into the same arena; enqueued on its stream.
  void restore(const Arena& arena, void** blocks) const;

 private:
  Requests requests_;
  std::vector<simt::Buffer<std::byte>> parts_;  // as arena.parts()
  simt::Buffer<void*> blocks_;
};

// Those of one arena. Together they take a quarter of the device's memory at most: cells that are opened later, and
// their checks, need memory too.
class FilledPools {
 public:
  // Null where no such requests were kept.
  const FilledPool* find(const FilledPool::Requests& requests) const;
  // Keeps a copy of the arena as it is, if the device has the memory. The oldest copies make room for it.
  void keep(const Arena& arena, const FilledPool::Requests& requests, void* const* blocks);
  void clear() { pools_.clear(); }

 private:
  std::deque<FilledPool> pools_;  // the oldest first
};

}  // namespace allocbench
