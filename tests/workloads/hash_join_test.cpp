// These tests check the tables of hash_join, the host's join of them, the shape of the grid, and the results over
// several allocators.
#include "workloads/hash_join/hash_join.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/random_walk/corw_reworked.hpp"
#include "allocators/random_walk/crw_reworked.hpp"
#include "allocators/scatteralloc/scatteralloc_reworked.hpp"
#include "tests/workloads/cpu_device.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/hash_join/join_steps.hpp"
#include "workloads/support/occupancy/occupancy_kernels.hpp"

namespace allocbench {
namespace {

template <class A>
using Rig = test::WorkloadRig<HashJoin, A, HashJoinKernels, OccupancyKernels>;

JoinInput input(const char* kind, std::uint32_t tuples, double exponent = 0.75, std::uint64_t seed = 3) {
  return {kind, tuples, exponent, seed};
}

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> keys) {
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(JoinTables, ArePermutationsInR) {
  for (const std::uint32_t tuples : {2u, 3u, 1000u, 1024u, 70'000u}) {
    std::vector<std::uint32_t> numbers(tuples);
    std::iota(numbers.begin(), numbers.end(), 0u);
    const JoinTables tables = join_tables(input("fk", tuples));
    EXPECT_EQ(sorted(tables.r), numbers) << tuples;
    EXPECT_LT(*std::max_element(tables.s.begin(), tables.s.end()), tables.r.size());
  }
  EXPECT_FALSE(std::is_sorted(join_tables(input("fk", 1000)).r.begin(), join_tables(input("fk", 1000)).r.end()));
}

TEST(JoinTables, OfDupHaveEveryKeyTwice) {
  for (const std::uint32_t tuples : {1000u, 1001u}) {
    const JoinTables tables = join_tables(input("dup", tuples));
    const std::vector<std::uint32_t> keys = sorted(tables.r);
    for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(keys[i], i / 2);
    EXPECT_LT(*std::max_element(tables.s.begin(), tables.s.end()), 500u);
  }
}

TEST(JoinTables, DependOnTheSeedAlone) {
  for (const char* kind : {"fk", "dup", "sel", "skew"}) {
    const JoinTables tables = join_tables(input(kind, 5000));
    EXPECT_EQ(join_tables(input(kind, 5000)).r, tables.r);
    EXPECT_EQ(join_tables(input(kind, 5000)).s, tables.s);
    EXPECT_NE(join_tables(input(kind, 5000, 0.75, 4)).r, tables.r);
    EXPECT_NE(join_tables(input(kind, 5000, 0.75, 4)).s, tables.s);
  }
}

TEST(JoinTables, OfSelDrawFromSixteenTimesTheKeys) {
  const JoinTables tables = join_tables(input("sel", 32'000));
  const auto partners = std::count_if(tables.s.begin(), tables.s.end(), [](std::uint32_t key) { return key < 32'000; });
  EXPECT_NEAR(static_cast<double>(partners), 2000, 250);
}

// With exponent 1, the share of keys up to k is proportional to the logarithm of k + 2.
TEST(JoinTables, OfSkewPreferSmallKeys) {
  const JoinTables tables = join_tables(input("skew", 100'000, 1));
  const auto share = [&](std::uint32_t bound) {
    return static_cast<double>(
               std::count_if(tables.s.begin(), tables.s.end(), [&](std::uint32_t key) { return key < bound; })) /
           100'000;
  };
  EXPECT_NEAR(share(1), std::log(2) / std::log(100'001), 0.005);
  EXPECT_NEAR(share(10), std::log(11) / std::log(100'001), 0.01);
  EXPECT_NEAR(share(1000), std::log(1001) / std::log(100'001), 0.01);
  EXPECT_EQ(share(100'000), 1);
}

TEST(JoinOracle, PairsEqualKeys) {
  const JoinTables tables{{5, 7, 5, 1}, {5, 2, 1, 9, 5}};
  std::vector<std::uint64_t> pairs = joined_pairs(tables);
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::uint64_t> expected{join_pair(0, 0), join_pair(0, 4), join_pair(2, 0), join_pair(2, 4),
                                      join_pair(3, 2)};
  EXPECT_EQ(pairs, expected);
  MultisetDigest digest;
  for (const std::uint64_t pair : expected) digest.add(pair);
  EXPECT_EQ(joined_digest(tables), digest);
  digest.add(join_pair(1, 1));
  EXPECT_NE(joined_digest(tables), digest);
}

TEST(JoinOracle, DigestOfManyRowsIsThatOfTheirPairs) {
  for (const char* kind : {"fk", "dup", "sel", "skew"}) {
    const JoinTables tables = join_tables(input(kind, 200'000));
    MultisetDigest digest;
    for (const std::uint64_t pair : joined_pairs(tables)) digest.add(pair);
    EXPECT_EQ(joined_digest(tables), digest) << kind;
  }
  EXPECT_EQ(joined_digest(join_tables(input("fk", 5000))).count, 5000u);
  EXPECT_EQ(joined_digest(join_tables(input("dup", 5000))).count, 10'000u);
}

TEST(JoinShape, MakesAsManyThreadsAsAsked) {
  JoinShape shape = JoinShape::of(1 << 26, 8, 128);
  EXPECT_EQ(shape.partition_bits, 16u);
  EXPECT_EQ(shape.threads(), 1u << 23);
  EXPECT_EQ(shape.table_tuples, 1024u + 256 + 2);
  EXPECT_EQ(shape.slots(), 1024u);
  shape = JoinShape::of(1 << 26, 1, 256);
  EXPECT_EQ(shape.partition_bits, 18u);
  EXPECT_EQ(shape.threads(), 1u << 26);
  shape = JoinShape::of(1 << 14, 64, 128);
  EXPECT_EQ(shape.partition_bits, 4u);
  EXPECT_EQ(shape.blocks, 2u);
  shape = JoinShape::of(100, 8, 128);
  EXPECT_EQ(shape.partition_bits, 0u);
  EXPECT_EQ(shape.blocks, 1u);
}

HashJoin::Parameters small(const char* kind, std::uint32_t tuples_per_thread = 4) {
  HashJoin::Parameters parameters;
  parameters.tuples = 600;
  parameters.tuples_per_thread = tuples_per_thread;
  parameters.threads_per_block = 64;
  parameters.page_bytes = 64;  // room for 6 pairs
  parameters.input = kind;
  parameters.free_share = 0.5;
  return parameters;
}

template <class A>
void join_all_inputs(const typename A::Parameters& allocator, std::size_t pool_bytes) {
  for (const char* kind : {"fk", "dup", "sel", "skew"}) {
    for (const std::uint32_t tuples_per_thread : {1u, 8u}) {
      Rig<A> rig(small(kind, tuples_per_thread), pool_bytes, allocator);
      EXPECT_EQ(rig.sample(), "") << kind;
      EXPECT_EQ(rig.sample(), "") << kind << ": again on the same heap";
    }
  }
}
TEST(HashJoin, IsExactOverCoRW) { join_all_inputs<CollaborativeRandomWalkReworked>({.page_bytes = 64}, 256 << 10); }
TEST(HashJoin, IsExactOverCRW) { join_all_inputs<ClusteredRandomWalkReworked>({{.page_bytes = 64}}, 256 << 10); }
TEST(HashJoin, IsExactOverScatterAlloc) { join_all_inputs<ScatterAllocReworked>({}, 1 << 18); }
TEST(HashJoin, IsExactInTwoPasses) {
  for (const char* kind : {"fk", "dup", "sel", "skew"}) {
    HashJoin::Parameters parameters = small(kind);
    parameters.output = "two_pass";
    Rig<AtomicMalloc> rig(parameters, 1024);
    EXPECT_EQ(rig.sample(), "") << kind;
  }
}

// Seven eighths of S have the same key, so one partition of S has nearly all tuples.
TEST(HashJoin, JoinsUnevenPartitions) {
  HashJoin::Parameters parameters = small("skew");
  parameters.exponent = 4;
  Rig<CollaborativeRandomWalkReworked> rig(parameters, 256 << 10, {.page_bytes = 64});
  EXPECT_EQ(rig.sample(), "");
}

// R has so many tuples of one key that a table of two tuples needs several rounds.
struct RoundsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, JoinShape shape, PartitionedTable r, PartitionedTable s,
                          std::uint32_t* found) const {
    join::join_block(thread, shape, r, s, [&](std::uint32_t r_row, std::uint32_t s_row) {
      thread.atomic(found[r_row * 3 + s_row]).fetch_add(1u, simt::relaxed);
    });
  }
};
TEST(HashJoin, JoinsPartitionsBeyondTheTableInRounds) {
  test::CpuDevice cpu;
  const std::vector<std::uint32_t> r_hashes{8, 8, 9, 8, 8};
  const std::vector<std::uint32_t> s_hashes{8, 9, 7};
  const std::vector<std::uint32_t> rows{0, 1, 2, 3, 4};
  const std::vector<std::uint32_t> r_begin{0, 5};
  const std::vector<std::uint32_t> s_begin{0, 3};
  simt::Buffer<std::uint32_t> found(15);
  found.fill_bytes(cpu.stream, 0);
  JoinShape shape;
  shape.threads_per_block = 32;
  shape.table_tuples = 2;
  simt::launch(cpu.stream, shape.launch(), RoundsKernel{}, shape,
               PartitionedTable{r_hashes.data(), rows.data(), r_begin.data()},
               PartitionedTable{s_hashes.data(), rows.data(), s_begin.data()}, found.data());
  EXPECT_EQ(found.to_host(cpu.stream), (std::vector<std::uint32_t>{1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0}));
}

TEST(HashJoin, AsksForOnePagePerThreadWhereItsPairsFit) {
  HashJoin::Parameters parameters = small("fk", 1);
  parameters.free_share = 1;
  Rig<AtomicMalloc> rig(parameters, 1 << 20);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_LE(rig.counter("mallocs"), 600u);
  EXPECT_GT(rig.counter("mallocs"), 300u);
}

HashJoin::Parameters with_warp_lists(HashJoin::Parameters parameters) {
  parameters.lists = "warp";
  return parameters;
}

TEST(HashJoin, IsExactWithAListPerWarp) {
  for (const char* kind : {"fk", "dup", "sel", "skew"}) {
    for (const std::uint32_t page_bytes : {32u, 64u, 1024u}) {  // room for 2, 6 and 126 pairs
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        HashJoin::Parameters parameters = with_warp_lists(small(kind, seed % 2 == 0 ? 1 : 8));
        parameters.page_bytes = page_bytes;
        Rig<CollaborativeRandomWalkReworked> rig(parameters, 2 << 20, {.page_bytes = page_bytes}, seed);
        ASSERT_EQ(rig.sample(), "") << kind << ", pages of " << page_bytes << " B, seed " << seed;
        ASSERT_EQ(rig.sample(), "") << kind << ": again on the same heap";
      }
    }
  }
}

// All pages but the last one of each list are full. So 600 pairs take 100 pages of 6, and at most one more per warp.
TEST(HashJoin, AsksForFewPagesWithAListPerWarp) {
  Rig<CollaborativeRandomWalkReworked> rig(with_warp_lists(small("fk", 1)), 256 << 10, {.page_bytes = 64});
  EXPECT_EQ(rig.sample(), "");
  const std::uint32_t warps = JoinShape::of(600, 1, 64).threads() / simt::warp_size;
  EXPECT_GE(rig.counter("mallocs"), 100u);
  EXPECT_LE(rig.counter("mallocs"), 100u + warps);
}

TEST(HashJoin, ListsOfWarpsNeedWholeWarps) {
  HashJoin::Parameters parameters = with_warp_lists(small("fk", 1));
  parameters.threads_per_block = 48;
  EXPECT_THROW((test::why_unsupported<HashJoin, AtomicMalloc>(parameters)), std::invalid_argument);
}

TEST(HashJoin, ReportsOutOfMemoryAndGoesOn) {
  for (const std::size_t pages : {16u, 64u, 160u}) {
    HashJoin::Parameters parameters = small("fk", 1);
    parameters.lists = pages < 160 ? "warp" : "thread";
    Rig<CollaborativeRandomWalkReworked> rig(parameters, pages * 64, {.page_bytes = 64});
    const std::string problem = rig.sample();
    EXPECT_NE(problem.find("nulls"), std::string::npos) << problem;
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

TEST(HashJoin, FindsPagesWithTwoOwners) {
  HashJoin::Parameters parameters = small("fk", 1);
  parameters.free_share = 1;
  Rig<test::SlotMalloc<test::Fault::double_hand_out>> doubled(parameters, 1 << 20);
  EXPECT_NE(doubled.sample(), "");
  Rig<test::SlotMalloc<test::Fault::overlap>> overlapping(parameters, 1 << 20);
  EXPECT_NE(overlapping.sample(), "");
  Rig<test::SlotMalloc<test::Fault::null_every_third>> refusing(parameters, 1 << 20);
  EXPECT_NE(refusing.sample().find("nulls"), std::string::npos);
  Rig<test::SlotMalloc<test::Fault::none>> correct(parameters, 1 << 20);
  EXPECT_EQ(correct.sample(), "");
}

TEST(HashJoin, SaysWhatItCannotRunOn) {
  EXPECT_EQ((test::why_unsupported<HashJoin, AtomicMalloc>(small("fk"))), "");
  EXPECT_NE(
      (test::why_unsupported<HashJoin, CollaborativeRandomWalkReworked>(small("fk"), 1 << 20, {.page_bytes = 32})), "");
}

}  // namespace
}  // namespace allocbench
