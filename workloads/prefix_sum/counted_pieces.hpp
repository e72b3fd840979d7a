// CountedPieces: memory for every caller from one allocation by the host: count, exclusive scan, allocate, write.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/common/geometry.hpp"
#include "workloads/common/request_sizes.hpp"
#include "workloads/common/scan.hpp"

namespace allocbench {

class CountedPieces {
 public:
  CountedPieces(simt::Stream& stream, const Geometry& geometry)
      : stream_(stream),
        geometry_(geometry),
        counts_(geometry.callers),
        offsets_(geometry.callers),
        scan_(geometry.callers) {}

  void clear() {
    counts_.fill_bytes(stream_, 0);
    offsets_.fill_bytes(stream_, 0);
  }
  // Makes the memory; every caller writes its piece. Waits for the sum in between.
  void make(AnySize sizes);
  void free() { memory_ = {}; }

  // Of every caller's piece, of the last make().
  std::vector<std::uint64_t> offsets() const { return offsets_.to_host(stream_); }

 private:
  simt::Stream& stream_;
  Geometry geometry_;
  simt::Buffer<std::uint64_t> counts_;
  simt::Buffer<std::uint64_t> offsets_;
  ExclusiveScan scan_;
  simt::Buffer<std::byte> memory_;
};

}  // namespace allocbench
