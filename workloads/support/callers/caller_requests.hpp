// One request per caller, as most samples make them: the sizes, the kernels of
// workloads/support/kernels/call_kernels.hpp and what malloc returned.
#pragma once

#include <string>
#include <vector>

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/device_sizes.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {

class CallerRequests {
 public:
  // Each round of requests has its own row of results. A geometry without callers is allowed: nothing is launched.
  CallerRequests(simt::Stream& stream, const Geometry& geometry, RequestSizes sizes, std::uint32_t rounds = 1)
      : stream_(stream),
        geometry_(geometry),
        sizes_(std::move(sizes), stream),
        results_(stream, geometry.callers, rounds) {}

  // Every block is a multiple of so many bytes, a power of two; before the first sample.
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
  // The same where callers hold other blocks. Designs that free in bulk give nothing back before free() or free_of().
  void free_some(const AllocatorHandle& allocator, void** blocks) const { launch_frees(allocator, blocks, false); }
  // Round after round, until one has a null or all rows are used; the rounds that ran. The host looks at each.
  std::uint32_t alloc_until_null(const AllocatorHandle& allocator) const;
  // The first round as phases `alloc` and `free`.
  void alloc_and_free(const AllocatorHandle& allocator, PhaseTimer& timer) const;

  // Round by round.
  std::vector<RecordedBlock> blocks() const;
  // For a check together with others.
  SlotRange range() const { return results_.range(sizes_.any(), callers()); }
  // Judges all blocks and the meaning of their nulls. `before` are blocks that others hold at the same time.
  void check(PointerCheck& check, PointerCheck::Live live = PointerCheck::Live::together,
             AskedBlocks before = {}) const;

  RequestProfile profile() const { return {geometry_, sizes_.host()}; }
  KernelInfo alloc_info(std::string phase, const AllocatorType& type) const;
  // Kernels of the phases `alloc` and `free`.
  std::vector<KernelInfo> kernels(const AllocatorType& type) const;

 private:
  AllocatorHandle aligned(const AllocatorHandle& allocator) const;
  void launch_frees(const AllocatorHandle& allocator, void** blocks, bool releases) const;

  simt::Stream& stream_;
  Geometry geometry_;
  DeviceSizes sizes_;
  RecordedPointers results_;
  std::uint32_t alignment_ = 1;
  std::vector<std::uint64_t> different_sizes_;  // where an alignment is asked for
  mutable std::size_t surplus_ = 0;             // of each request of the last sample, because of it
};

}  // namespace allocbench
