// CountedPieces: memory for every caller from one allocation by the host, as in programs without a malloc on the
// device: count, exclusive scan, allocate, and write the pieces or store their addresses. The allocation is a
// cudaMalloc, or comes from a stream-ordered pool (simt/stream_pool.hpp).
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
  // Pieces are rounded up to a multiple of `unit_bytes`.
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
  // Makes the memory; every caller writes its piece. Waits for the sum in between.
  void make_written(AnySize sizes, PiecesFrom from);
  // The same, but every caller leaves the address of its piece in `addresses`.
  void make_addresses(AnySize sizes, PiecesFrom from, void** addresses);
  void free();

  // The offset of every caller's piece, from the last make_...().
  std::vector<std::uint64_t> offsets() const { return offsets_.to_host(stream_); }
  // The mistakes in these offsets for these sizes. Empty if there are none.
  std::string problem(const RequestSizes& sizes) const;

 private:
  // Returns the memory.
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
