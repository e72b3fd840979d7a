// A pool that requests filled, kept as a copy of the arena's memory.
//
// Some published designs take a second to fill a pool (ScatterAlloc, Ouroboros P-VL), and a figure starts hundreds of
// samples from the same full pool. One fill serves all cells of an instance.
#pragma once

#include <cstdint>
#include <memory>

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

  // Copies the arena as it is and the `count` blocks that the requests got. Null where the device has too little
  // memory.
  static std::unique_ptr<FilledPool> copy_of(const Arena& arena, const Requests& requests, void* const* blocks);

  const Requests& requests() const { return requests_; }
  // Into the same arena; enqueued on its stream.
  void restore(const Arena& arena, void** blocks) const;

 private:
  FilledPool(const Arena& arena, const Requests& requests, void* const* blocks);

  Requests requests_;
  std::vector<simt::Buffer<std::byte>> parts_;  // as arena.parts()
  simt::Buffer<void*> blocks_;
};

}  // namespace allocbench
