// Pools that requests filled, kept as copies of the arena's memory.
//
// Some published designs take a second to fill a pool (ScatterAlloc, Ouroboros P-VL), and a figure starts hundreds of
// samples from the same few full pools. One fill of each serves all cells of an instance, and where requests are made
// in several launches, a fuller pool begins with the launches of another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "allocators/support/contract/arena.hpp"
#include "simt/simt.hpp"

namespace allocbench {

class FilledPool {
 public:
  // The requests that filled it from a fresh state: `count` requests of `bytes`, one per caller of such a grid.
  struct Requests {
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    std::uint32_t threads_per_block = 0;
    std::uint32_t lanes_per_warp = 0;
    std::size_t together = 0;  // so many in a launch, one launch after the other; 0: all
    bool operator==(const Requests&) const = default;

    // End of the launch that begins with request `begin`.
    std::size_t end_of_launch(std::size_t begin) const {
      return together == 0 ? count : std::min(count, begin / together * together + together);
    }
    // The requests of all launches but the last one.
    Requests whole_launches() const {
      Requests result = *this;
      result.count = together == 0 || count == 0 ? 0 : (count - 1) / together * together;
      return result;
    }
    // Whether these are the first whole launches of `others`.
    bool begin(const Requests& others) const {
      Requests as_many = *this;
      as_many.count = others.count;
      return as_many == others && together != 0 && count % together == 0 && count < others.count;
    }
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

// The copies of one arena. Together they take a quarter of the device's memory at most: cells that are opened later,
// and their checks, need memory too.
class FilledPools {
 public:
  // The pool that these requests filled, else the one that most of their whole launches filled; null if none is kept.
  const FilledPool* find(const FilledPool::Requests& requests) const;
  // Whether a copy is so small that those of whole launches may be kept, too.
  bool has_room_for_many(const Arena& arena, const FilledPool::Requests& requests) const;
  // Keeps a copy of the arena as it is, if the device has the memory. The oldest copies make room for it.
  void keep(const Arena& arena, const FilledPool::Requests& requests, void* const* blocks);
  void clear() { pools_.clear(); }

 private:
  std::size_t bytes() const;
  // The memory that all copies may take.
  std::size_t most_bytes(const Arena& arena) const;

  std::deque<FilledPool> pools_;  // the oldest first
};

}  // namespace allocbench
