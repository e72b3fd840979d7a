// These tests check PointerCheck with hand-made sequences of pointers.
#include "workloads/support/verification/pointer_check.hpp"

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

// Checks blocks of 16 bytes at these offsets, numbered in order.
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

// Adds requests of 16 bytes, of which `nulls` returned null.
void ask(PointerCheck& pointers, std::uint64_t requests, std::uint64_t nulls) {
  pointers.add_right(requests, nulls, 16 * requests);
}

PointerRules room_of(std::uint64_t bytes) {
  PointerRules rules = pool_of(bytes);
  rules.pool_bytes = bytes;
  return rules;
}

using MaybeNulls = std::optional<std::uint64_t>;

TEST(SpuriousNulls, AreThoseOfKernelsWhoseRequestsAllFitThePool) {
  PointerCheck pointers(room_of(4096));
  ask(pointers, 256, 3);
  pointers.explain_nulls({256, 4096}, Live::together);
  EXPECT_EQ(pointers.spurious_nulls(), MaybeNulls(3));
  ask(pointers, 20, 4);  // in addition to 240 older blocks
  pointers.explain_nulls({260, 4160}, Live::together);
  EXPECT_EQ(pointers.spurious_nulls(), MaybeNulls(3)) << "the pool was exhausted";
  ask(pointers, 16, 2);
  pointers.explain_nulls({256, 4096}, Live::together);
  EXPECT_EQ(pointers.spurious_nulls(), MaybeNulls(5));
}

TEST(SpuriousNulls, AreNotKnownUntilAllAreExplained) {
  PointerCheck pointers(room_of(4096));
  EXPECT_EQ(pointers.spurious_nulls(), MaybeNulls(0)) << "there are no nulls";
  ask(pointers, 10, 1);
  EXPECT_EQ(pointers.spurious_nulls(), std::nullopt);
  pointers.explain_nulls({10, 160}, Live::together);
  ask(pointers, 10, 1);
  EXPECT_EQ(pointers.spurious_nulls(), std::nullopt);
}

TEST(SpuriousNulls, AreNotKnownWithoutAPool) {
  PointerCheck pointers(pool_of(4096));
  EXPECT_EQ(pointers.spurious_nulls(), std::nullopt);
  ask(pointers, 10, 1);
  pointers.explain_nulls({10, 160}, Live::together);
  EXPECT_EQ(pointers.spurious_nulls(), std::nullopt);
}

// If a kernel frees each block immediately, the room that it needs is unknown.
TEST(SpuriousNulls, AreNotKnownWhereBlocksLiveSeparatelyAndDoNotFit) {
  PointerCheck pointers(room_of(4096));
  ask(pointers, 300, 1);
  pointers.explain_nulls({200, 3200}, Live::separately);
  EXPECT_EQ(pointers.spurious_nulls(), MaybeNulls(1));
  ask(pointers, 300, 1);
  pointers.explain_nulls({300, 4800}, Live::separately);
  EXPECT_EQ(pointers.spurious_nulls(), std::nullopt);
}

TEST(SpuriousNulls, CountABlockAsTheDesignSays) {
  PointerRules pages = room_of(4096);
  pages.block_bytes = 1024;
  for (const auto& [requests, spurious] : {std::pair{4u, 1u}, std::pair{5u, 0u}}) {
    PointerCheck pointers(pages);
    ask(pointers, requests, 1);
    pointers.explain_nulls({requests, 16 * requests}, Live::together);
    EXPECT_EQ(pointers.spurious_nulls(), MaybeNulls(spurious)) << requests;
  }
}

TEST(SpuriousNulls, CountAllBlocksOfASampleWhereNoneIsTakenBack) {
  const auto after_two_rounds = [](Frees frees, Live live) {
    PointerRules rules = room_of(4096);
    rules.frees = frees;
    PointerCheck pointers(rules);
    ask(pointers, 300, 7);
    pointers.explain_nulls({150, 2400}, live);
    return pointers.spurious_nulls();
  };
  EXPECT_EQ(after_two_rounds(Frees::individually, Live::together), MaybeNulls(7));
  EXPECT_EQ(after_two_rounds(Frees::never, Live::together), MaybeNulls(0));
  EXPECT_EQ(after_two_rounds(Frees::never, Live::separately), MaybeNulls(0));
  EXPECT_EQ(after_two_rounds(Frees::in_bulk, Live::together), MaybeNulls(7)) << "a round ends with the bulk free";
  EXPECT_EQ(after_two_rounds(Frees::in_bulk, Live::separately), std::nullopt);
}

TEST(SpuriousNulls, AskedBlocksAreRoundedUp) {
  AskedBlocks asked;
  for (const std::uint64_t bytes : {1, 16, 17}) asked.add(bytes);
  EXPECT_EQ(std::pair(asked.count, asked.bytes), std::pair(std::uint64_t{3}, std::uint64_t{64}));
  asked.take(17);
  EXPECT_EQ(std::pair(asked.count, asked.bytes), std::pair(std::uint64_t{2}, std::uint64_t{32}));
}

// Returns the message if 64 requests of 16 bytes follow `older` others in a pool of 4 KiB.
std::string refusal_of(std::uint64_t nulls, std::uint64_t older = 128) {
  PointerCheck pointers(room_of(4096));
  ask(pointers, 64, nulls);
  pointers.explain_nulls({older + 64, 16 * (older + 64)}, Live::together);
  return pointers.refusal(4096);
}

TEST(Refusal, IsOfMoreThanHalfOfTheRequestsThatHadRoom) {
  EXPECT_EQ(refusal_of(0), "");
  EXPECT_EQ(refusal_of(32), "");
  EXPECT_EQ(refusal_of(33), "33 of 64 requests returned null, although 2 KiB of a pool of 4 KiB was free");
  EXPECT_EQ(refusal_of(64), "64 of 64 requests returned null, although 2 KiB of a pool of 4 KiB was free");
}

TEST(Refusal, IsAlsoThatNoRequestGotABlock) {
  EXPECT_EQ(refusal_of(63, 200), "") << "the pool was exhausted";
  EXPECT_EQ(refusal_of(64, 200), "none of 64 requests got a block; 1 KiB asked of a pool of 4 KiB");
  PointerCheck unknown(pool_of(4096));
  ask(unknown, 64, 64);
  unknown.explain_nulls({64, 1024}, Live::together);
  EXPECT_EQ(unknown.refusal(4096), "none of 64 requests got a block; 1 KiB asked of a pool of 4 KiB");
}

TEST(Refusal, CountsAllKernelsOfASampleTogether) {
  PointerCheck pointers(room_of(4096));
  ask(pointers, 70, 0);  // the remaining served blocks
  pointers.explain_nulls({70, 1120}, Live::together, 0);
  for (const std::uint64_t nulls : {0, 40, 10}) {
    ask(pointers, nulls, nulls);
    pointers.explain_nulls({100, 1600}, Live::together, 40);
  }
  EXPECT_EQ(pointers.refusal(4096), "") << "50 of 120";
  ask(pointers, 40, 40);
  pointers.explain_nulls({100, 1600}, Live::together, 40);
  EXPECT_NE(pointers.refusal(4096).find("90 of 160 requests returned null"), std::string::npos);
}

TEST(Refusal, IsNotTheEndOfAFilling) {
  PointerCheck pointers(room_of(4096));
  ask(pointers, 64, 63);
  pointers.explain_nulls({64, 1024}, Live::together, PointerCheck::until_null);
  EXPECT_EQ(pointers.refusal(4096), "");
}

TEST(PointerCheck, FindsTheSamePointerTwice) {
  EXPECT_EQ(check({0, 64, 64}, Live::together).problem(),
            "wrong pointers (of 3 blocks): 1 overlapping; first: request 2 (16 B at pool+0x40) shares bytes with "
            "request 1 (16 B at pool+0x40)");
}

TEST(PointerCheck, AllowsTheSamePointerTwiceOneAfterTheOther) {
  EXPECT_TRUE(check({0, 64, 64}, Live::separately).ok());
}

// The overlapping block is not the neighbour in address order, but the one that reaches farthest.
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
