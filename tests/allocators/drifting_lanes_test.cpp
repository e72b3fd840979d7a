// In the kernels of these tests, each thread frees a block before or after it allocates another one. All blocks have
// the same size, which all threads know. Two kinds of lanes come to the malloc later than the rest of their warp. One
// kind gives a superblock back. The other kind frees a block while other lanes have none. So lanes of one warp may
// allocate in two groups at the same time. The tests run on both back ends. On CUDA, a kernel that does not end within
// a minute ends the program.
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

// The lanes in `first` free their block before they allocate another one, and the other lanes after it.
struct FreeAndMalloc {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t size, simt::LaneMask first, void** blocks) const {
    const bool frees_first = (first >> thread.lane() & 1) != 0;
    void*& mine = blocks[thread.rank_in_grid()];
    allocator.free(thread, frees_first ? mine : nullptr);
    void* const fresh = allocator.malloc(thread, size);
    allocator.free(thread, frees_first ? nullptr : mine);
    mine = fresh;
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

// Runs `rounds` kernels of `threads` threads. Each thread has one block before and after a kernel.
void free_and_malloc(simt::Device& device, simt::LaneMask first, std::uint32_t threads, std::uint64_t superblock_bytes,
                     std::size_t pool_bytes, std::uint32_t rounds) {
  simt::Stream stream(device);
  Arena arena(stream, pool_bytes);
  const auto allocator = KmaReworked::create(arena, {.superblock_bytes = superblock_bytes});
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, {1, 32}, Fill{}, allocator, bytes, threads, blocks.data());
  for (std::uint32_t round = 0; round < rounds; ++round) {
    simt::launch(stream, {threads / 256, 256}, FreeAndMalloc{}, allocator, bytes, first, blocks.data());
    wait_for(stream);
    std::vector<void*> all = blocks.to_host(stream);
    ASSERT_EQ(std::count(all.begin(), all.end(), nullptr), 0) << "round " << round;
    std::sort(all.begin(), all.end());
    ASSERT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "round " << round;
    ASSERT_EQ(allocator.broken_invariant(stream), "") << "round " << round;
  }
}

void free_and_malloc(simt::LaneMask first) {
#if SIMT_CUDA
  if (simt::Device::count() == 0) GTEST_SKIP() << "no device";
  simt::Device device(0);
  free_and_malloc(device, first, 264 * 256, 65536, std::size_t{64} << 20, 20);
#else
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.strategy = simt::StrategyKind::swarm;
    options.seed = seed;
    simt::Device device(options);
    free_and_malloc(device, first, 2 * 256, 4096, std::size_t{1} << 20, 3);
  }
#endif
}

TEST(DriftingLanes, FreeAndThenMallocInReworkedKma) { free_and_malloc(simt::full_warp); }

TEST(DriftingLanes, SomeLanesHaveNothingToFreeInReworkedKma) {
  for (const simt::LaneMask first : {0x1u, 0x10001u, 0x55555555u}) free_and_malloc(first);
}

}  // namespace
}  // namespace allocbench
