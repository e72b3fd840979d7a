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
  // What filled it: so many requests of so many bytes, from a fresh pool.
  struct Requests {
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    bool operator==(const Requests&) const = default;
  };

  // Copies the arena as it is and the blocks that the requests got. Null where the device has too little memory.
  static std::unique_ptr<FilledPool> copy_of(const Arena& arena, const Requests& requests,
                                             const simt::Buffer<void*>& blocks);

  const Requests& requests() const { return requests_; }
  // Into the same arena; enqueued on its stream.
  void restore(const Arena& arena, const simt::Buffer<void*>& blocks) const;

 private:
  FilledPool(const Arena& arena, const Requests& requests, const simt::Buffer<void*>& blocks);

  Requests requests_;
  std::vector<simt::Buffer<std::byte>> parts_;  // as arena.parts()
  simt::Buffer<void*> blocks_;
};

}  // namespace allocbench
