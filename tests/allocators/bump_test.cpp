// These tests of AtomicMalloc and AWMalloc use hand-made sequences.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/bump/aw_malloc.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using testing::Rig;

TEST(AtomicMalloc, HandsOutThePoolInOrderAndThenNull) {
  Rig<AtomicMalloc> rig(4096);
  EXPECT_EQ(rig.offset(rig.malloc({1})[0]), 0);
  EXPECT_EQ(rig.offset(rig.malloc({17})[0]), 16);
  EXPECT_EQ(rig.offset(rig.malloc({4096 - 48})[0]), 48);
  EXPECT_EQ(rig.malloc({1})[0], nullptr);
}

TEST(AtomicMalloc, FailedRequestsNeverMakeALaterOneSucceed) {
  Rig<AtomicMalloc> rig(4096);
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), 0);
  for (int round = 0; round < 100; ++round) EXPECT_EQ(rig.malloc({4096})[0], nullptr);
  EXPECT_EQ(rig.malloc({16})[0], nullptr);
  rig.allocator.reset(rig.stream());
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), 0);
}

TEST(AtomicMalloc, ThreadsGetDistinctBlocks) {
  Rig<AtomicMalloc> rig(64 * 1024);
  std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(1000, 32));
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(rig.offset(blocks[i]), static_cast<std::ptrdiff_t>(i * 32));
}

TEST(AWMalloc, WrapsToTheStartOfThePool) {
  Rig<AWMalloc> rig(64);
  EXPECT_EQ(rig.offset(rig.malloc({32})[0]), 0);
  EXPECT_EQ(rig.offset(rig.malloc({32})[0]), 32);
  EXPECT_EQ(rig.offset(rig.malloc({32})[0]), 0);
  EXPECT_EQ(rig.offset(rig.malloc({16})[0]), 32);
}

TEST(AWMalloc, RefusesWhatThePoolCannotHold) {
  Rig<AWMalloc> rig(64);
  EXPECT_EQ(rig.malloc({65})[0], nullptr);
  EXPECT_EQ(rig.offset(rig.malloc({64})[0]), 0);
}

// Algorithm 2 of the paper may hand out a range that no thread reserved (aw_malloc.hpp). Between two wraps, every byte
// may be handed out only once. Eight threads request 32 B each from a pool of 272 B, so the offset wraps at most once.
TEST(AWMalloc, NeverHandsOutAByteTwiceBetweenTwoWraps) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(300); ++seed) {
    Rig<AWMalloc> rig(272, {}, seed);
    rig.malloc({160});  // so that the eight requests below cross the end
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(8, 32), 8);
    std::vector<std::ptrdiff_t> offsets;
    for (void* block : blocks) {
      ASSERT_NE(block, nullptr) << "seed " << seed;
      offsets.push_back(rig.offset(block));
      EXPECT_LE(offsets.back() + 32, 272) << "seed " << seed;
    }
    // Before the wrap, only [160, 272) can be handed out: three blocks. The next five start at 0.
    std::sort(offsets.begin(), offsets.end());
    EXPECT_EQ(std::unique(offsets.begin(), offsets.end()), offsets.end()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace allocbench
