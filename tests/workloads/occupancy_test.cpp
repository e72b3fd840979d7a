// Which pages are in use before a measurement: the random subset, marking pages, filling by malloc.
#include "workloads/common/occupancy.hpp"

#include <gtest/gtest.h>

#include "allocators/random_walk/rw.hpp"
#include "allocators/random_walk/rw_bm.hpp"
#include "allocators/random_walk/rw_malloc.hpp"
#include "allocators/simple_queue/simple_queue.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench {
namespace {

using testing::Rig;

TEST(RandomSubset, HasExactlyTheChosenNumbersAndOthersForOtherSeeds) {
  for (const std::uint32_t count : {1u, 2u, 3u, 5u, 32u, 100u, 1000u, 4096u}) {
    for (const std::uint32_t chosen : {0u, 1u, count / 2, count}) {
      const RandomSubset subset(count, chosen, 1);
      const RandomSubset other(count, chosen, 2);
      std::uint32_t members = 0;
      std::uint32_t differ = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        members += subset(i);
        differ += subset(i) != other(i);
      }
      EXPECT_EQ(members, chosen) << count;
      if (count >= 100 && chosen == count / 2) {
        EXPECT_GT(differ, count / 4);
      }
    }
  }
}

TEST(RandomSubset, SpreadsOverTheWholeRange) {
  // Of 2^16 numbers a tenth is chosen; every 64th of the range gets 102 of them, within five standard deviations.
  const RandomSubset subset(1 << 16, 6554, 3);
  for (std::uint32_t part = 0; part < 64; ++part) {
    std::uint32_t members = 0;
    for (std::uint32_t i = 0; i < 1024; ++i) members += subset(part * 1024 + i);
    EXPECT_NEAR(members, 102.4, 48) << part;
  }
}

template <class A>
class OccupancyTest : public ::testing::Test {};
using PageAllocators = ::testing::Types<RandomWalk, RandomWalkBitmap, RandomWalkMalloc, SimpleQueue>;
TYPED_TEST_SUITE(OccupancyTest, PageAllocators);

TYPED_TEST(OccupancyTest, LeavesExactlyTheOtherPagesFree) {
  for (const std::uint32_t pages : {40u, 1000u}) {
    typename TypeParam::Parameters parameters;
    parameters.page_bytes = 64;
    if constexpr (requires { parameters.scarce_share; }) parameters.scarce_share = 0.0005;
    Rig<TypeParam> rig(pages * 64, parameters);
    const auto free_pages = [&] {
      const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(pages, 64));
      return pages - std::count(blocks.begin(), blocks.end(), nullptr);
    };
    const std::uint32_t used = pages / 5;
    const auto check = [&](const auto& is_used) {
      if constexpr (MarksPages<TypeParam>) {
        rig.allocator.occupy(rig.stream(), is_used);
        EXPECT_EQ(rig.allocator.page_count(), pages);
        EXPECT_EQ(free_pages(), pages - used);
        rig.allocator.reset(rig.stream());
      }
      Occupants occupants(rig.stream(), pages);
      occupants.enter(rig.allocator, 64, is_used);
      EXPECT_EQ(occupants.blocks().size(), used);
      occupants.leave(rig.allocator, is_used);
      EXPECT_EQ(occupants.blocks().size(), 0u);
      EXPECT_EQ(free_pages(), pages);
      EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
      rig.allocator.reset(rig.stream());
    };
    check(RandomSubset(pages, used, 9));
    check(FirstPages{used});
  }
}

// Serves everyone or nobody, and counts.
struct CountingMalloc {
  std::uint32_t* requests;
  bool serves;
  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    thread.atomic(*requests).fetch_add(1u, simt::relaxed);
    return serves ? requests : nullptr;
  }
  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}
};

TEST(Occupancy, StopsAskingOnceManyWereRefused) {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  simt::Device device(options);
  simt::Stream stream(device);
  constexpr std::uint32_t wanted = 64 * 1024;
  for (const bool serves : {true, false}) {
    simt::Buffer<std::uint32_t> requests(1);
    requests.fill_bytes(stream, 0);
    Occupants occupants(stream, wanted);
    occupants.enter(CountingMalloc{requests.data(), serves}, 64, FirstPages{wanted});
    EXPECT_EQ(occupants.present(), serves ? wanted : 0);
    const std::uint32_t asked = requests.to_host(stream).front();
    if (serves) {
      EXPECT_EQ(asked, wanted);
    } else {
      // Those who had looked before enough were refused still ask.
      EXPECT_GE(asked, OccupyKernel::enough_refusals);
      EXPECT_LT(asked, wanted / 2);
    }
  }
}

TEST(Occupancy, FirstFitLeavesOneCluster) {
  Rig<RandomWalkMalloc> rig(64 * 64, {.page_bytes = 64});
  rig.allocator.occupy(rig.stream(), FirstPages{32});
  EXPECT_EQ(rig.offset(rig.malloc({32 * 64})[0]), 32 * 64);
}

}  // namespace
}  // namespace allocbench
