// These tests check the sequence of keys in the workload index_nodes, and every look-up under many schedules.
#include "workloads/index_nodes/index_nodes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/index_nodes/index_reader.hpp"
#include "workloads/index_nodes/kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using index::KeyCourse;
using index::KeyOperation;
using index::Node;
using test::Fault;
using test::SlotMalloc;
template <class A>
using Rig = test::WorkloadRig<IndexNodes, A, index::IndexKernels, CallKernels>;
using NodeSlots = SlotMalloc<Fault::none, 128>;

IndexNodes::Parameters small(std::uint32_t keys, std::uint32_t keys_per_bucket, std::uint32_t rounds) {
  IndexNodes::Parameters parameters;
  parameters.keys = keys;
  parameters.keys_per_bucket = keys_per_bucket;
  parameters.rounds = rounds;
  parameters.threads_per_block = 64;
  return parameters;
}

// The test applies the launches to a map.
TEST(KeyCourse, FollowsFromItsLaunches) {
  const KeyCourse course = index::draw_keys(200, 3, 0.3, 7, 14, 11);
  ASSERT_EQ(course.launches.size(), 5u);
  ASSERT_EQ(course.look_ups.size(), 4u);
  std::map<std::uint32_t, std::uint32_t> held;
  for (std::size_t launch = 0; launch < 5; ++launch) {
    std::set<std::uint32_t> keys;
    for (const KeyOperation& each : course.launches[launch]) {
      EXPECT_TRUE(keys.insert(each.key).second) << "a key comes twice in a launch";
      if (each.value == 0) {
        EXPECT_EQ(held.erase(each.key), 1u);
      } else {
        EXPECT_TRUE(held.emplace(each.key, each.value).second);
      }
    }
    if (launch == 4) break;
    EXPECT_EQ(held.size(), 200u);
    EXPECT_EQ(course.look_ups[launch].size(), 200u + 60 * launch);
    for (const KeyOperation& each : course.look_ups[launch]) {
      EXPECT_EQ(each.value, held.contains(each.key) ? held[each.key] : 0);
    }
    if (launch != 3) continue;
    std::uint64_t count = 0;
    for (const MultisetDigest& bucket : course.buckets) count += bucket.count;
    EXPECT_EQ(count, 200u);
    EXPECT_EQ(course.buckets.size(), 8u);
  }
  EXPECT_TRUE(held.empty());
}

TEST(IndexNodes, AreExactUnderManySchedules) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(10); ++seed) {
    const std::uint32_t per_bucket = seed % 2 == 0 ? 100 : 20;  // long chains in some schedules, many chains in others
    Rig<KmaReworked> rig(small(200, per_bucket, 2), 1 << 20, {.superblock_bytes = 4096}, seed);
    ASSERT_EQ(rig.sample(), "") << "seed " << seed;
    ASSERT_EQ(rig.sample(), "") << "seed " << seed << ": again on the same heap";
    EXPECT_EQ(rig.counter("mallocs"), rig.counter("frees")) << "seed " << seed;
    EXPECT_GE(rig.counter("mallocs"), 200u / 14) << "seed " << seed;
  }
}

TEST(IndexNodes, LookUpEveryKeyAfterEveryRound) {
  Rig<NodeSlots> rig(small(100, 28, 3), 128 * 200);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.operations("build"), 100u);
  EXPECT_EQ(rig.operations("update"), 3u * 50);
  EXPECT_EQ(rig.operations("look_up"), 100u + 125 + 150 + 175);
  EXPECT_EQ(rig.operations("clear"), 100u);
}

TEST(IndexNodes, GiveBackTheNodesOfDeletedKeys) {
  IndexNodes::Parameters parameters = small(64, 16, 12);
  parameters.changed_share = 1;
  Rig<NodeSlots> rig(parameters, 128 * 40);
  EXPECT_EQ(rig.sample(), "") << "13 rounds of 64 keys fit into 40 nodes only where nodes come back";
}

TEST(IndexNodes, EndCleanlyWhereMemoryRunsOut) {
  Rig<NodeSlots> rig(small(200, 28, 2), 128 * 5);
  for (int sample = 0; sample < 3; ++sample) {
    const std::string problem = rig.sample();
    EXPECT_NE(problem.find(" nulls"), std::string::npos) << problem;
  }
}

// Every pointer is right, but the nodes are wrong.
TEST(IndexNodes, SeeANodeThatTheAllocatorWroteTo) {
  IndexNodes::Parameters parameters = small(150, 14, 3);
  Rig<SlotMalloc<Fault::scribble, 128>> rig(parameters, 128 * 200);
  EXPECT_EQ(rig.sample().find("wrong index"), 0u) << rig.sample();
}

// Before the look-ups run, all their values are wrong. The message names the first.
TEST(IndexNodes, SeeLookUpsThatGotOtherValues) {
  test::CpuDevice cpu;
  const KeyCourse course = index::draw_keys(20, 1, 0.5, 3, Node::capacity, 3);
  index::LookUps look_ups(cpu.stream, course);
  look_ups.clear();
  const KeyOperation& first = course.look_ups[0][0];
  EXPECT_EQ(look_ups.problem(), "key " + std::to_string(first.key) + " has the value 4294967295 instead of " +
                                    std::to_string(first.value) + " after round 0");
}

TEST(IndexNodes, SayWhyAnAllocatorCannotRunThem) {
  EXPECT_NE((test::why_unsupported<IndexNodes, FdgMallocReworkedOnKma>(small(10, 10, 1), 8 << 20)), "");
  EXPECT_NE((test::why_unsupported<IndexNodes, SlotMalloc<Fault::none>>(small(10, 10, 1))), "");
  IndexNodes::Parameters odd = small(10, 10, 1);
  odd.threads_per_block = 40;
  EXPECT_THROW((test::why_unsupported<IndexNodes, AtomicMalloc>(odd)), std::invalid_argument);
}

}  // namespace
}  // namespace allocbench
