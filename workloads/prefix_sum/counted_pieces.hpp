// CountedPieces gives every caller a piece of one allocation by the host, as programs without a malloc on the device
// do. It counts, makes an exclusive scan, allocates, and writes the pieces or stores their addresses. The memory comes
// from cudaMalloc or from a stream-ordered pool (simt/stream_pool.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/support/parallel/scan.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

enum class PiecesFrom { device, stream_pool };

class CountedPieces {
 public:
  // Rounds pieces up to a multiple of `unit_bytes`.
  CountedPieces(simt::Stream& stream, const Geometry& geometry, std::uint32_t unit_bytes = 16)
      : stream_(stream),
        geometry_(geometry),
        unit_(unit_bytes),
        counts_(geometry.callers),
        offsets_(geometry.callers),
        scan_(geometry.callers),
        pool_(stream.device()) {}
  ~CountedPieces() { pool_.release(stream_, pooled_); }

  void clear() {
    counts_.fill_bytes(stream_, 0);
    offsets_.fill_bytes(stream_, 0);
  }
  // Allocates the memory, and every caller writes its piece. The function waits for the sum before it allocates.
  void make_written(AnySize sizes, PiecesFrom from);
  // Allocates the memory, and every caller stores the address of its piece in `addresses`.
  void make_addresses(AnySize sizes, PiecesFrom from, void** addresses);
  void free();

  // Returns the offset of every caller's piece in the last allocation.
  std::vector<std::uint64_t> offsets() const { return offsets_.to_host(stream_); }
  // Returns the first mistake in the offsets for these sizes, or an empty text.
  std::string problem(const RequestSizes& sizes) const;

 private:
  // Returns the allocated memory.
  std::byte* make(AnySize sizes, PiecesFrom from);

  simt::Stream& stream_;
  Geometry geometry_;
  std::uint32_t unit_;
  simt::Buffer<std::uint64_t> counts_;
  simt::Buffer<std::uint64_t> offsets_;
  ExclusiveScan scan_;
  simt::Buffer<std::byte> memory_;
  simt::StreamPool pool_;
  void* pooled_ = nullptr;
};

}  // namespace allocbench
