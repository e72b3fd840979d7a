// MallocMCOriginal is mallocMC 2.4.0 (github.com/alpaka-group/mallocMC), the maintained successor of the authors'
// ScatterAlloc, as a plug-in. It has the policies Scatter (with page reset) and XMallocSIMD, alignment 16 and pages of
// 4 KiB.
//
// The library is written for warps that run in lock step: the members of a coalesced request (less than 128 B each)
// exchange their results through shared memory without a barrier. In a plain build for sm_90, all members but one get
// null or a wrong pointer. So the adapter replaces the policy by one in which the lanes of a request synchronize before
// they divide their common block. `mallocmc_no_coalescing_original` differs only in the policy: it uses the library's
// policy without coalescing (Noop).
#pragma once

#include <algorithm>
#include <mallocMC/mallocMC.hpp>

#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

// These types are not members of the adapter, because code that nvcc generates names them outside of it.
namespace mallocmc_original {

struct Heap : mallocMC::CreationPolicies::Scatter<>::HeapProperties {
  static constexpr auto resetfreedpages = true;
};
struct Alignment : mallocMC::AlignmentPolicies::Shrink<>::Properties {
  static constexpr auto dataAlignment = 16;
};
// MeetingXMallocSIMD is XMallocSIMD with two barriers for the lanes of a request. The first one comes before the lanes
// add up their sizes, so that all have finished their previous request. The second one comes before the lanes divide
// the block, so that the requesting lane already has the block.
class MeetingXMallocSIMD : public mallocMC::DistributionPolicies::XMallocSIMD<> {
  using Policy = mallocMC::DistributionPolicies::XMallocSIMD<>;

 public:
  __device__ auto collect(std::uint32_t bytes) -> std::uint32_t {
    lanes_ = __activemask();
    __syncwarp(lanes_);
    return Policy::collect(bytes);
  }
  __device__ auto distribute(void* block) -> void* {
    __syncwarp(lanes_);
    return Policy::distribute(block);
  }

 private:
  unsigned lanes_;
};

template <class Distribution>
using Library = mallocMC::Allocator<mallocMC::CreationPolicies::Scatter<Heap>, Distribution,
                                    mallocMC::OOMPolicies::ReturnNull, mallocMC::ReservePoolPolicies::SimpleCudaMalloc,
                                    mallocMC::AlignmentPolicies::Shrink<Alignment>>;

}  // namespace mallocmc_original

template <class Distribution>
class MallocMCAdapter {
  using Library = mallocmc_original::Library<Distribution>;

 public:
  using Parameters = NoParameters;

  // Returns the largest request: half the pool, but at most 2^32 - 1 bytes, because the library has 32-bit requests.
  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) {
    return std::min<std::size_t>(pool_bytes / 2, 0xffffffffu);
  }

  void destroy() { delete host_; }
  Pool own_pool() const { return pool_; }

  template <class Thread>
  SIMT_FN void* malloc(Thread&, std::size_t bytes) {
    return bytes > 0xffffffffu ? nullptr : device_->malloc(bytes);
  }
  template <class Thread>
  SIMT_FN void free(Thread&, void* block) {
    if (block != nullptr) device_->free(block);
  }

 protected:
  static MallocMCAdapter lay_out(Arena& arena, std::string_view name) {
    MallocMCAdapter allocator;
    allocator.host_ = new Library(arena.pool_bytes());
    allocator.device_ = allocator.host_->getAllocatorHandle().devAllocator;
    const auto heap = allocator.host_->getHeapLocations().front();
    if (heap.p == nullptr) throw Unsupported(std::string(name) + ": the library got no memory for this pool");
    allocator.pool_ = {static_cast<std::byte*>(heap.p), heap.size};
    return allocator;
  }

 private:
  Library* host_ = nullptr;
  typename Library::DevAllocator* device_ = nullptr;
  Pool pool_;
};

constexpr Traits mallocmc_traits(std::string_view name, std::string_view display_name, std::string_view summary) {
  return {.name = name,
          .display_name = display_name,
          .paper = "Steinberger et al. 2012; Eckert 2014",
          .summary = summary,
          .form = Form::original,
          .pool = PoolLocation::own,
          .fresh = Fresh::by_process,
          .backends = Backends::cuda_only};
}

struct MallocMCOriginal : MallocMCAdapter<mallocmc_original::MeetingXMallocSIMD> {
  static constexpr Traits traits =
      mallocmc_traits("mallocmc_original", "mallocMC, original",
                      "the maintained heir of ScatterAlloc, version 2.4.0, with page reset; lanes meet in each malloc");
  static MallocMCOriginal create(Arena& arena, const Parameters&) { return {lay_out(arena, traits.name)}; }
};

struct MallocMCNoCoalescingOriginal : MallocMCAdapter<mallocMC::DistributionPolicies::Noop> {
  static constexpr Traits traits =
      mallocmc_traits("mallocmc_no_coalescing_original", "mallocMC without coalescing, original",
                      "the maintained heir of ScatterAlloc, version 2.4.0, with page reset, each lane for itself");
  static MallocMCNoCoalescingOriginal create(Arena& arena, const Parameters&) { return {lay_out(arena, traits.name)}; }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(mallocmc_original, MallocMCOriginal, MallocMCNoCoalescingOriginal)
