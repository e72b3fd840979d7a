// Kernels in which every thread frees a block and then allocates one of a size that all threads know. A lane that gives
// a superblock back comes later than the rest of its warp, so lanes of one warp allocate in two groups at once. For
// both back ends: on CUDA a kernel that does not end within a minute ends the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

#include "allocators/kma/kma_reworked.hpp"
#include "simt/simt.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t bytes = 64;

struct Fill {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t size, std::uint32_t count, void** blocks) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) {
      blocks[i] = allocator.malloc(thread, size);
    }
  }
};

struct FreeThenMalloc {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t size, void** blocks) const {
    void*& mine = blocks[thread.rank_in_grid()];
    allocator.free(thread, mine);
    mine = allocator.malloc(thread, size);
  }
};

void wait_for(simt::Stream& stream) {
#if SIMT_CUDA
  auto waiting = std::async(std::launch::async, [&] { stream.synchronize(); });
  if (waiting.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
    std::puts("the kernel does not end");
    std::fflush(stdout);
    std::_Exit(1);
  }
  waiting.get();
#else
  stream.synchronize();
#endif
}

// In `rounds` kernels of `threads` threads, each of which has a block before and after.
void free_then_malloc(simt::Device& device, std::uint32_t threads, std::uint64_t superblock_bytes,
                      std::size_t pool_bytes, std::uint32_t rounds) {
  simt::Stream stream(device);
  Arena arena(stream, pool_bytes);
  const auto allocator = KmaReworked::create(arena, {.superblock_bytes = superblock_bytes});
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, {1, 32}, Fill{}, allocator, bytes, threads, blocks.data());
  for (std::uint32_t round = 0; round < rounds; ++round) {
    simt::launch(stream, {threads / 256, 256}, FreeThenMalloc{}, allocator, bytes, blocks.data());
    wait_for(stream);
    std::vector<void*> all = blocks.to_host(stream);
    ASSERT_EQ(std::count(all.begin(), all.end(), nullptr), 0) << "round " << round;
    std::sort(all.begin(), all.end());
    ASSERT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "round " << round;
    ASSERT_EQ(allocator.broken_invariant(stream), "") << "round " << round;
  }
}

TEST(DriftingLanes, FreeAndThenMallocInReworkedKma) {
#if SIMT_CUDA
  if (simt::Device::count() == 0) GTEST_SKIP() << "no device";
  simt::Device device(0);
  free_then_malloc(device, 264 * 256, 65536, std::size_t{64} << 20, 20);
#else
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.strategy = simt::StrategyKind::swarm;
    options.seed = seed;
    simt::Device device(options);
    free_then_malloc(device, 2 * 256, 4096, std::size_t{1} << 20, 3);
  }
#endif
}

}  // namespace
}  // namespace allocbench
