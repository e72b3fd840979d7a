// These types keep copies of the memory of pools that requests have filled.
//
// Some published designs (ScatterAlloc, Ouroboros P-VL) can take a second to fill a pool. A figure can start hundreds
// of samples from the same few full pools. So the cells that use one instance share one fill of each pool. If a
// workload fills a pool in several launches, a fuller pool may start from the copy of a less full one.
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
  // Requests describes what filled the pool from a fresh state: `count` requests of `bytes`, one per caller of this
  // grid.
  struct Requests {
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    std::uint32_t threads_per_block = 0;
    std::uint32_t lanes_per_warp = 0;
    std::size_t together = 0;  // number of requests per launch, one launch after the other; 0: all
    bool operator==(const Requests&) const = default;

    // Returns the end of the launch that begins with request `begin`.
    std::size_t end_of_launch(std::size_t begin) const {
      return together == 0 ? count : std::min(count, begin / together * together + together);
    }
    // Returns the requests of all launches but the last one.
    Requests whole_launches() const {
      Requests result = *this;
      result.count = together == 0 || count == 0 ? 0 : (count - 1) / together * together;
      return result;
    }
    // Returns whether these requests are the first whole launches of `others`.
    bool begin(const Requests& others) const {
      Requests as_many = *this;
      as_many.count = others.count;
      return as_many == others && together != 0 && count % together == 0 && count < others.count;
    }
  };

  // Copies the contents of the arena and the addresses of the `count` blocks. Throws Fault if the device has too little
  // memory.
  FilledPool(const Arena& arena, const Requests& requests, void* const* blocks);

  // Returns the bytes that a copy for these requests takes.
  static std::size_t bytes_for(const Arena& arena, const Requests& requests);

  const Requests& requests() const { return requests_; }
  std::size_t bytes() const;
  // Enqueues a restore of the copy into the same arena, on the arena's stream.
  void restore(const Arena& arena, void** blocks) const;

 private:
  Requests requests_;
  std::vector<simt::Buffer<std::byte>> parts_;  // as arena.parts()
  simt::Buffer<void*> blocks_;
};

// FilledPools has the copies of one arena. Together they take at most a quarter of the memory that the device would
// have free without them, because later cells and their checks need memory, too.
class FilledPools {
 public:
  // Returns the copy after all these requests, otherwise the copy after the largest number of their whole launches, or
  // null if there is neither.
  const FilledPool* find(const FilledPool::Requests& requests) const;
  // Returns whether a copy is small enough that copies after whole launches may be kept, too.
  bool has_room_for_many(const Arena& arena, const FilledPool::Requests& requests) const;
  // Keeps a copy of the current arena if the device has the memory. The oldest copies are released to make room.
  void keep(const Arena& arena, const FilledPool::Requests& requests, void* const* blocks);
  void clear() { pools_.clear(); }

 private:
  std::size_t bytes() const;
  // Returns the bytes that all copies together may take.
  std::size_t most_bytes(const Arena& arena) const;

  std::deque<FilledPool> pools_;  // the oldest first
};

}  // namespace allocbench
