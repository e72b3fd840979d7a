// These tests compare the oracle's verdicts on hand-made sequences with the expected texts.
#include "check/shadow_heap.hpp"

#include <gtest/gtest.h>

#include <array>

namespace allocbench::check {
namespace {

class ShadowHeapTest : public ::testing::Test {
 protected:
  const std::byte* at(std::size_t offset) const { return pool_.data() + offset; }

  alignas(64) std::array<std::byte, 256> pool_{};
  ShadowHeap heap_{BlockRules{16, pool_.data(), pool_.data() + pool_.size(), true}};
};

TEST_F(ShadowHeapTest, BlocksSideBySideAreFine) {
  EXPECT_TRUE(heap_.adopt(at(0), 16, 0));
  EXPECT_TRUE(heap_.adopt(at(32), 16, 1));
  EXPECT_TRUE(heap_.adopt(at(16), 16, 2));
  EXPECT_EQ(heap_.live_blocks(), 3u);
  EXPECT_TRUE(heap_.retire(at(32), 0));
  EXPECT_TRUE(heap_.adopt(at(32), 224, 3));
  EXPECT_EQ(heap_.most_live_blocks(), 3u);
  EXPECT_EQ(heap_.verdict(), "");
}

TEST_F(ShadowHeapTest, TheSameBlockTwice) {
  EXPECT_TRUE(heap_.adopt(at(16), 16, 0));
  EXPECT_FALSE(heap_.adopt(at(16), 8, 5));
  EXPECT_EQ(heap_.verdict(), "handed out twice: pool+0x10 (8 bytes, lane 5) while pool+0x10 (16 bytes, lane 0) lives");
}

TEST_F(ShadowHeapTest, OverlapFromEitherSide) {
  EXPECT_TRUE(heap_.adopt(at(32), 48, 0));
  EXPECT_FALSE(heap_.adopt(at(64), 16, 1));
  EXPECT_EQ(heap_.verdict(), "overlap: pool+0x40 (16 bytes, lane 1) with pool+0x20 (48 bytes, lane 0)");
  ShadowHeap other(BlockRules{16, pool_.data(), pool_.data() + pool_.size(), true});
  EXPECT_TRUE(other.adopt(at(32), 48, 0));
  EXPECT_FALSE(other.adopt(at(16), 17, 1));
  EXPECT_EQ(other.verdict(), "overlap: pool+0x10 (17 bytes, lane 1) with pool+0x20 (48 bytes, lane 0)");
}

TEST_F(ShadowHeapTest, Misalignment) {
  EXPECT_FALSE(heap_.adopt(at(8), 16, 0));
  EXPECT_EQ(heap_.verdict(), "misaligned: pool+0x8 (16 bytes, lane 0) is not a multiple of 16");
}

TEST_F(ShadowHeapTest, OutOfPool) {
  EXPECT_TRUE(heap_.adopt(at(240), 16, 0));
  EXPECT_FALSE(heap_.adopt(at(240), 17, 0));
  EXPECT_EQ(heap_.verdict(), "outside the pool: pool+0xf0 (17 bytes, lane 0), pool of 256 bytes");
  ShadowHeap below(BlockRules{16, at(64), at(128), true});
  EXPECT_FALSE(below.adopt(at(48), 16, 0));
  EXPECT_EQ(below.verdict(), "outside the pool: pool-0x10 (16 bytes, lane 0), pool of 64 bytes");
}

TEST_F(ShadowHeapTest, DoubleAndForeignFree) {
  EXPECT_TRUE(heap_.adopt(at(0), 16, 0));
  EXPECT_TRUE(heap_.retire(at(0), 3));
  EXPECT_FALSE(heap_.retire(at(0), 4));
  EXPECT_EQ(heap_.verdict(), "double free: pool+0x0 by lane 4, first by lane 3");
  ShadowHeap other(BlockRules{16, pool_.data(), pool_.data() + pool_.size(), true});
  EXPECT_FALSE(other.retire(at(32), 1));
  EXPECT_EQ(other.verdict(), "foreign free: pool+0x20 by lane 1 was never handed out");
}

TEST_F(ShadowHeapTest, DamageNamesTheByte) {
  EXPECT_TRUE(heap_.adopt(at(16), 16, 2));
  heap_.damaged(at(16), 3, 0x25, 0, 7);
  EXPECT_EQ(heap_.verdict(),
            "overwritten: lane 7 finds byte 3 of pool+0x10 (16 bytes, lane 2) changed from 0x25 to 0x00");
}

TEST_F(ShadowHeapTest, TheFirstVerdictStays) {
  EXPECT_FALSE(heap_.adopt(at(8), 16, 0));
  const std::string first = heap_.verdict();
  EXPECT_FALSE(heap_.retire(at(64), 0));
  EXPECT_EQ(heap_.verdict(), first);
}

TEST_F(ShadowHeapTest, AHeapThatRecyclesUnfreedBlocksIsJudgedByBoundsAlone) {
  ShadowHeap heap(BlockRules{16, pool_.data(), pool_.data() + pool_.size(), false});
  EXPECT_TRUE(heap.adopt(at(0), 16, 0));
  EXPECT_TRUE(heap.adopt(at(0), 16, 1));
  EXPECT_TRUE(heap.retire(at(128), 1));
  EXPECT_FALSE(heap.adopt(at(248), 16, 1));
}

TEST_F(ShadowHeapTest, LastCallsReadLikeATrace) {
  heap_.adopt(at(16), 16, 2);
  heap_.retire(at(16), 31);
  heap_.refused(64, 5);
  EXPECT_EQ(
      heap_.last_calls(),
      "  lane   2  malloc(16) = pool+0x10\n  lane  31  free(pool+0x10), 16 bytes\n  lane   5  malloc(64) = null\n");
}

}  // namespace
}  // namespace allocbench::check
