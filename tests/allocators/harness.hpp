// Rig has one allocator on its own device of the CPU back end. Its functions run kernels that call the allocator.
#pragma once

#include <cstdint>
#include <vector>

#include "allocators/support/contract/allocator.hpp"
#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"

namespace allocbench::testing {

// In MallocAll, thread i requests sizes[i] bytes. `blocks` gets the results; null means that the request was refused.
struct MallocAll {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const std::uint64_t* sizes, void** blocks,
                          std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    auto&& session = attach(allocator, thread);
    blocks[i] = session.malloc(thread, sizes[i]);
    detach(session, thread);
  }
};

struct FreeAll {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, void** blocks, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    auto&& session = attach(allocator, thread);
    session.free(thread, blocks[i]);
    detach(session, thread);
  }
};

struct ReleaseAll {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint32_t count) const {
    if (thread.rank_in_grid() >= count) return;
    auto&& session = attach(allocator, thread);
    allocbench::release_all(session, thread);
    detach(session, thread);
  }
};

template <class A>
class Rig {
 public:
  explicit Rig(std::size_t pool_bytes, typename A::Parameters parameters = {}, std::uint64_t seed = 1,
               std::uint32_t sm_count = 4, simt::StrategyKind strategy = simt::StrategyKind::random)
      : device_(options(seed, sm_count, device_heap_bytes<A>(pool_bytes, parameters), strategy)),
        stream_(device_),
        arena_(stream_, pool_bytes),
        allocator(A::create(arena_, parameters)) {}

  std::vector<void*> malloc(const std::vector<std::uint64_t>& sizes, std::uint32_t threads_per_block = 32) {
    simt::Buffer<std::uint64_t> requests(sizes.size());
    requests.from_host(stream_, sizes);
    simt::Buffer<void*> blocks(sizes.size());
    const auto count = static_cast<std::uint32_t>(sizes.size());
    simt::launch(stream_, shape(count, threads_per_block), MallocAll{}, allocator,
                 static_cast<const std::uint64_t*>(requests.data()), blocks.data(), count);
    return blocks.to_host(stream_);
  }

  void free(const std::vector<void*>& blocks, std::uint32_t threads_per_block = 32) {
    simt::Buffer<void*> device_blocks(blocks.size());
    device_blocks.from_host(stream_, blocks);
    const auto count = static_cast<std::uint32_t>(blocks.size());
    simt::launch(stream_, shape(count, threads_per_block), FreeAll{}, allocator, device_blocks.data(), count);
  }

  // Lets `threads` threads declare that all their blocks are dead.
  void release_all(std::uint32_t threads, std::uint32_t threads_per_block = 32) {
    simt::launch(stream_, shape(threads, threads_per_block), ReleaseAll{}, allocator, threads);
  }

  // Returns the offset of a block in the pool in bytes.
  std::ptrdiff_t offset(const void* block) { return static_cast<const std::byte*>(block) - arena_.pool().base; }

  simt::Stream& stream() { return stream_; }
  simt::Device& device() { return device_; }
  Arena& arena() { return arena_; }

 private:
  static simt::ExecutorOptions options(std::uint64_t seed, std::uint32_t sm_count, std::size_t heap_bytes,
                                       simt::StrategyKind strategy) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.seed = seed;
    options.sm_count = sm_count;
    options.strategy = strategy;
    options.slice = 1;
    if (heap_bytes != 0) options.device_heap_bytes = heap_bytes;
    return options;
  }
  static simt::LaunchShape shape(std::uint32_t count, std::uint32_t threads_per_block) {
    return {(count + threads_per_block - 1) / threads_per_block, threads_per_block};
  }

  simt::Device device_;
  simt::Stream stream_;
  Arena arena_;

 public:
  A allocator;
};

}  // namespace allocbench::testing
