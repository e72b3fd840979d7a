// PointerCheck against hand-made sequences of pointers.
#include "workloads/verification/pointer_check.hpp"

#include <gtest/gtest.h>

namespace allocbench {
namespace {

using Live = PointerCheck::Live;

constexpr std::uint64_t base = 0x10000;

PointerRules pool_of(std::uint64_t bytes) {
  PointerRules rules;
  rules.pool_begin = base;
  rules.pool_end = base + bytes;
  return rules;
}

// Blocks at these offsets, of 16 bytes each, numbered in order.
PointerCheck check(std::initializer_list<std::uint64_t> offsets, Live live, PointerRules rules = pool_of(4096)) {
  std::vector<RecordedBlock> blocks;
  for (const std::uint64_t offset : offsets) blocks.push_back({base + offset, 16, blocks.size()});
  PointerCheck result(std::move(rules));
  result.check(blocks, live);
  return result;
}

TEST(PointerCheck, AcceptsNeighbours) { EXPECT_EQ(check({32, 0, 16, 4080}, Live::together).problem(), ""); }

TEST(PointerCheck, CountsNullsWithoutBlame) {
  PointerCheck pointers(pool_of(4096));
  pointers.check(std::vector<RecordedBlock>{{0, 16, 0}, {base, 16, 1}, {0, 16, 2}}, Live::together);
  EXPECT_TRUE(pointers.ok());
  EXPECT_EQ(pointers.nulls(), 2u);
  EXPECT_EQ(pointers.blocks(), 3u);
  EXPECT_EQ(pointers.bytes_requested(), 48u);
}

TEST(PointerCheck, FindsTheSamePointerTwice) {
  EXPECT_EQ(check({0, 64, 64}, Live::together).problem(),
            "wrong pointers (of 3 blocks): 1 overlapping; first: request 2 (16 B at pool+0x40) shares bytes with "
            "request 1 (16 B at pool+0x40)");
}

TEST(PointerCheck, AllowsTheSamePointerTwiceOneAfterTheOther) {
  EXPECT_TRUE(check({0, 64, 64}, Live::separately).ok());
}

// The block that overlaps is not the neighbour in address order but the one that reaches farthest.
TEST(PointerCheck, FindsBlocksInsideALargeOne) {
  PointerCheck pointers(pool_of(4096));
  pointers.check(
      std::vector<RecordedBlock>{{base, 1024, 0}, {base + 16, 16, 1}, {base + 512, 16, 2}, {base + 1024, 16, 3}},
      Live::together);
  EXPECT_EQ(pointers.problem(),
            "wrong pointers (of 4 blocks): 2 overlapping; first: request 1 (16 B at pool+0x10) shares bytes with "
            "request 0 (1 KiB at pool+0x0)");
}

TEST(PointerCheck, FindsMisalignment) {
  EXPECT_EQ(check({0, 40}, Live::together).problem(),
            "wrong pointers (of 2 blocks): 1 misaligned; first: request 1 (16 B at pool+0x28) is not a multiple of 16");
}

TEST(PointerCheck, FindsBlocksThatLeaveThePool) {
  EXPECT_EQ(
      check({4080, 4096}, Live::together).problem(),
      "wrong pointers (of 2 blocks): 1 out of bounds; first: request 1 (16 B at pool+0x1000) leaves the pool of 4 KiB");
  PointerRules rules = pool_of(4096);
  rules.alignment = 8;
  EXPECT_FALSE(check({4088}, Live::together, rules).ok()) << "the last 8 bytes are outside";
}

TEST(PointerCheck, SeesASlotThatNobodyWrote) {
  PointerCheck pointers(pool_of(4096));
  pointers.check(std::vector<RecordedBlock>{{base, 16, 0}, {poisoned_slot, 16, 1}}, Live::together);
  EXPECT_EQ(pointers.problem(), "wrong pointers (of 2 blocks): 1 unwritten; first: request 1 left no result");
}

TEST(PointerCheck, AsksTheDeviceHeapWhereThereIsNoPool) {
  PointerRules rules;
  rules.in_device_heap = [](const void* block) { return reinterpret_cast<std::uint64_t>(block) < base + 100; };
  EXPECT_TRUE(check({0, 16}, Live::together, rules).ok());
  EXPECT_NE(check({0, 160}, Live::together, rules).problem().find("is not in the device heap"), std::string::npos);
}

TEST(PointerCheck, LeavesOverlapOutWhereBlocksAreRecycled) {
  PointerRules rules = pool_of(4096);
  rules.check_overlap = false;
  EXPECT_TRUE(check({0, 0}, Live::together, rules).ok());
}

TEST(BytesText, UsesTheLargestUnit) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(15360), "15 KiB");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{2} << 30), "2 GiB");
}

}  // namespace
}  // namespace allocbench
