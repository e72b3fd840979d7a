// CallerRequests makes one request per caller and round. It holds the sizes and the results of malloc, and launches the
// kernels of workloads/support/kernels/call_kernels.hpp.
#pragma once

#include <string>
#include <vector>

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/device_sizes.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {

class CallerRequests {
 public:
  // Each round of requests has its own row of results. If the geometry has no callers, nothing is launched.
  CallerRequests(simt::Stream& stream, const Geometry& geometry, RequestSizes sizes, std::uint32_t rounds = 1)
      : stream_(stream),
        geometry_(geometry),
        sizes_(std::move(sizes), stream),
        results_(stream, geometry.callers, rounds) {}

  // Sets the alignment of the blocks of alloc_and_free() in bytes, a power of two. Call this before the first sample.
  void set_alignment(std::uint32_t alignment);

  const Geometry& geometry() const { return geometry_; }
  std::uint32_t callers() const { return geometry_.callers; }
  std::uint32_t rounds() const { return results_.rounds(); }
  const DeviceSizes& sizes() const { return sizes_; }
  void** row(std::uint32_t round) const { return results_.row(round); }

  void poison() { results_.poison(); }
  void alloc(const AllocatorHandle& allocator, std::uint32_t round = 0) const;
  void free(const AllocatorHandle& allocator, std::uint32_t round = 0) const { free_of(allocator, row(round)); }
  // Every caller frees the block in its slot of a row.
  void free_of(const AllocatorHandle& allocator, void** blocks) const { launch_frees(allocator, blocks, true); }
  // Every caller frees the block in its slot of a row, while callers hold other blocks. Designs that free in bulk free
  // no memory before free() or free_of().
  void free_some(const AllocatorHandle& allocator, void** blocks) const { launch_frees(allocator, blocks, false); }
  // Runs rounds until one has a null or all rows are used. The host checks each round. Returns the number of rounds.
  std::uint32_t alloc_until_null(const AllocatorHandle& allocator) const;
  // Runs the first round in the timed phases `alloc` and `free`.
  void alloc_and_free(const AllocatorHandle& allocator, PhaseTimer& timer) const;

  // Returns the blocks, round by round.
  std::vector<RecordedBlock> blocks() const;
  // Returns the slots with the results, for a check together with other blocks.
  SlotRange range() const { return results_.range(sizes_.any(), callers()); }
  // Checks all blocks and determines the cause of the nulls. `before` counts other blocks in use at the same time.
  void check(PointerCheck& check, PointerCheck::Live live = PointerCheck::Live::together,
             AskedBlocks before = {}) const;

  RequestProfile profile() const { return {geometry_, sizes_.host()}; }
  KernelInfo alloc_info(std::string phase, const AllocatorType& type) const;
  // Returns the kernels of the phases `alloc` and `free`.
  std::vector<KernelInfo> kernels(const AllocatorType& type) const;

 private:
  AllocatorHandle aligned(const AllocatorHandle& allocator) const;
  void launch_frees(const AllocatorHandle& allocator, void** blocks, bool releases) const;

  simt::Stream& stream_;
  Geometry geometry_;
  DeviceSizes sizes_;
  RecordedPointers results_;
  std::uint32_t alignment_ = 1;
  std::vector<std::uint64_t> different_sizes_;  // distinct request sizes, if an alignment is set
  mutable std::size_t surplus_ = 0;             // bytes added to each request of the last sample for its alignment
};

}  // namespace allocbench
