// These tests check that no request fails while pages are free. Requests of other lanes may subtract more units from
// the semaphore than it has, which hides pages that are freed at the same time. The first test is a hand-made sequence,
// and the second searches over schedules.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/ouroboros/ouroboros_c_reworked.hpp"
#include "allocators/ouroboros/ouroboros_p_reworked.hpp"
#include "tests/allocators/churn.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench {
namespace {

using testing::Rig;

// ScriptedHeap is a heap without chunks left, whose only class has one page per chunk. One lane uses it. The heap
// imitates what other lanes do meanwhile:
// * Round 1: A page is freed after the lane has looked for pages.
// * Round 2: Before the lane looks, a group of 32 lanes subtracts 32 units and gets this page. The subtraction hides a
//   second page, which is then freed. The group returns the other 31 units after the lane has looked.
// So a page is free although the lane has found none in two rounds.
struct ScriptedHeap {
  struct Space {
    SIMT_FN std::uint32_t pages_log(std::uint32_t) const { return 0; }
    SIMT_FN void* page(std::uint32_t, std::uint32_t, std::uint32_t) const { return nullptr; }
  };
  Space space;
  BulkSemaphore::State* semaphore;
  std::uint32_t* rounds;

  SIMT_FN BulkSemaphore free_pages(std::uint32_t) const {
    if (++*rounds == 2) semaphore->units += 1 - 32;
    return {semaphore};
  }
  template <class Thread>
  SIMT_FN std::uint32_t number_takes_of(Thread&, std::uint32_t, std::uint32_t) const {
    return 7;
  }
  template <class Thread>
  SIMT_FN std::uint32_t take_chunks_for(Thread&, std::uint32_t, std::uint32_t, std::uint32_t&) const {
    if (*rounds == 1) semaphore->units += 1;
    if (*rounds == 2) semaphore->units += 31;
    return 0;
  }
  template <class Thread, class Group>
  SIMT_FN void stock(Thread&, const Group&, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                     std::uint64_t) const {}
  template <class Thread, class Group>
  SIMT_FN void* serve(Thread&, const Group&, std::uint32_t, std::uint32_t) const {
    return semaphore;
  }
};

struct RefillOne {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, ScriptedHeap* heap, void** block) const {
    *block = ouroboros::refill(thread, *heap, 0);
  }
};

TEST(Refill, ServesAPageThatATakerHadHidden) {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  simt::Device device(options);
  simt::Stream stream(device);
  simt::Buffer<BulkSemaphore::State> semaphore(1);
  semaphore.fill_bytes(stream, 0);
  std::uint32_t rounds = 0;
  ScriptedHeap heap{{}, semaphore.data(), &rounds};
  void* block = nullptr;
  simt::launch(stream, {1, 1}, RefillOne{}, &heap, &block);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(semaphore.to_host(stream)[0].units, 0u);
}

struct FreeAndAskAgain {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, void** blocks, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    allocator.free(thread, blocks[i]);
    blocks[i] = allocator.malloc(thread, 16);
  }
};

template <class A>
class RefillTest : public ::testing::Test {};
using Variants = ::testing::Types<OuroborosPSReworked, OuroborosPVLReworked, OuroborosCSReworked>;
TYPED_TEST_SUITE(RefillTest, Variants);

TYPED_TEST(RefillTest, RefusesNobodyWhilePagesAreFree) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(400); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto small = small_heap<TypeParam>();
    small.pool_bytes = 2048;
    Rig<TypeParam> rig(small.pool_bytes, small.parameters, seed, 4, simt::StrategyKind::swarm);
    std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(128, 16));
    blocks.erase(std::remove(blocks.begin(), blocks.end(), nullptr), blocks.end());
    ASSERT_GT(blocks.size(), 8u);
    ASSERT_LT(blocks.size(), 128u);
    const std::size_t holders = 1 + seed % 4;
    blocks.resize(holders);
    for (int round = 0; round < 3; ++round) {
      blocks.resize(holders + 1 + seed / 4 % 4, nullptr);
      std::rotate(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(seed / 16 % blocks.size()),
                  blocks.end());
      simt::Buffer<void*> on_device(blocks.size());
      on_device.from_host(rig.stream(), blocks);
      const auto count = static_cast<std::uint32_t>(blocks.size());
      const std::uint32_t threads = 1u << seed % 3;
      simt::launch(rig.stream(), {(count - 1) / threads + 1, threads}, FreeAndAskAgain{}, rig.allocator,
                   on_device.data(), count);
      blocks = on_device.to_host(rig.stream());
      blocks.erase(std::remove(blocks.begin(), blocks.end(), nullptr), blocks.end());
      ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
      ASSERT_EQ(blocks.size(), holders) << "round " << round << ": a page is free, but requests were refused";
    }
  }
}

}  // namespace
}  // namespace allocbench
