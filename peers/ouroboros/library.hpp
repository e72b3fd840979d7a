// Adapter is the common part of the plug-ins for the six forms of the authors' Ouroboros
// (github.com/GPUPeople/Ouroboros).
#pragma once

#include <cuda_runtime.h>

#include <iostream>

#include "allocators/support/contract/allocator.hpp"

// The library's statistics read cudaDeviceProp::clockRate, which CUDA 13 does not have.
struct DevicePropertiesWithClock : cudaDeviceProp {
  int clockRate = 0;
};
#define cudaDeviceProp DevicePropertiesWithClock
// The order of these includes matters.
// clang-format off
#include "device/Ouroboros_impl.cuh"
#include "device/MemoryInitialization.cuh"
#include "InstanceDefinitions.cuh"
// clang-format on
#undef cudaDeviceProp

namespace allocbench::ouroboros_original {

template <class Library>
class Adapter {
 public:
  using Parameters = NoParameters;

  // Returns the largest request. The adapter refuses larger ones, because the library serves them from the device heap,
  // whose bounds are unknown.
  static std::size_t max_request(std::size_t, const Parameters&) { return CHUNK_SIZE; }

  void destroy() { delete host_; }
  // Returns the memory of the chunks and the queues behind them.
  Pool own_pool() const { return pool_; }

  template <class Thread>
  SIMT_FN void* malloc(Thread&, std::size_t bytes) {
    return bytes > CHUNK_SIZE ? nullptr : device_->malloc(bytes);
  }
  template <class Thread>
  SIMT_FN void free(Thread&, void* block) {
    if (block != nullptr) device_->free(block);
  }

 protected:
  static Adapter lay_out(Arena& arena, std::string_view name) {
    Adapter allocator;
    allocator.host_ = new Library();
    // The queues take memory of the pool, and the library does not check whether they fit.
    const std::size_t fixed = allocator.host_->totalMemoryManagerSize() + Library::size_();
    if (arena.pool_bytes() < 2 * fixed) {
      delete allocator.host_;
      throw Unsupported(std::string(name) + " needs a pool of at least " + std::to_string((2 * fixed >> 20) + 1) +
                        " MiB");
    }
    allocator.host_->initialize(arena.pool_bytes());
    allocator.device_ = allocator.host_->getDeviceMemoryManager();
    allocator.pool_ = {reinterpret_cast<std::byte*>(allocator.host_->memory.d_memory),
                       allocator.host_->memory.allocationSize};
    return allocator;
  }

 private:
  Library* host_ = nullptr;
  Library* device_ = nullptr;
  Pool pool_;
};

constexpr Traits traits_of(std::string_view name, std::string_view display_name, std::string_view summary) {
  return {.name = name,
          .display_name = display_name,
          .paper = "Winter et al. 2020",
          .summary = summary,
          .form = Form::original,
          .pool = PoolLocation::own,
          .fresh = Fresh::by_process,
          .backends = Backends::cuda_only};
}

}  // namespace allocbench::ouroboros_original
