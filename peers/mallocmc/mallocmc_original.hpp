// mallocMC 2.4.0 (github.com/alpaka-group/mallocMC), the maintained heir of the authors' ScatterAlloc, behind the
// contract: policies Scatter (with page reset) and XMallocSIMD, alignment 16, pages of 4 KiB.
//
// It is written for warps that run in lockstep: the members of a coalesced request exchange their results through
// shared memory without a barrier.
#pragma once

#include <algorithm>
#include <mallocMC/mallocMC.hpp>

#include "allocators/contract/allocator.hpp"

namespace allocbench {

// Not members of the adapter: nvcc names them outside of it.
namespace mallocmc_original {

struct Heap : mallocMC::CreationPolicies::Scatter<>::HeapProperties {
  static constexpr auto resetfreedpages = true;
};
struct Alignment : mallocMC::AlignmentPolicies::Shrink<>::Properties {
  static constexpr auto dataAlignment = 16;
};
using Library =
    mallocMC::Allocator<mallocMC::CreationPolicies::Scatter<Heap>, mallocMC::DistributionPolicies::XMallocSIMD<>,
                        mallocMC::OOMPolicies::ReturnNull, mallocMC::ReservePoolPolicies::SimpleCudaMalloc,
                        mallocMC::AlignmentPolicies::Shrink<Alignment>>;

}  // namespace mallocmc_original

class MallocMCOriginal {
  using Library = mallocmc_original::Library;

 public:
  using Parameters = NoParameters;
  static constexpr Traits traits{.name = "mallocmc_original",
                                 .display_name = "mallocMC, original",
                                 .paper = "Steinberger et al. 2012; Eckert 2014",
                                 .summary = "the maintained heir of ScatterAlloc, version 2.4.0, with page reset",
                                 .form = Form::original,
                                 .pool = PoolLocation::own,
                                 .fresh = Fresh::by_process,
                                 .backends = Backends::cuda_only};

  // Requests are 32-bit numbers there.
  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) {
    return std::min<std::size_t>(pool_bytes / 2, 0xffffffffu);
  }

  static MallocMCOriginal create(Arena& arena, const Parameters&) {
    MallocMCOriginal allocator;
    allocator.host_ = new Library(arena.pool_bytes());
    allocator.device_ = allocator.host_->getAllocatorHandle().devAllocator;
    const auto heap = allocator.host_->getHeapLocations().front();
    if (heap.p == nullptr) throw Unsupported("mallocmc_original: the library got no memory for this pool");
    allocator.pool_ = {static_cast<std::byte*>(heap.p), heap.size};
    return allocator;
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

 private:
  Library* host_ = nullptr;
  Library::DevAllocator* device_ = nullptr;
  Pool pool_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(mallocmc_original, MallocMCOriginal)
