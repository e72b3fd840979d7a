// These tests run graph_arrays under many schedules, and plant faults that its oracle must find.
#include "workloads/graph/graph_arrays.hpp"

#include <gtest/gtest.h>

#include <map>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/bump/aw_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/halloc/halloc_reworked.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/graph/arrays_kernels.hpp"
#include "workloads/graph/updates.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using graph::Adjacency;
using graph::adjacency_of;
using graph::array_bytes;
using graph::Deletes;
using graph::Updates;
using test::Fault;
using test::SlotMalloc;

template <class A>
using Rig = test::WorkloadRig<GraphArrays, A, graph::ArraysKernels, CallKernels>;

GraphArrays::Parameters small(std::uint32_t batches, std::uint32_t window, std::uint32_t lanes) {
  GraphArrays::Parameters parameters;
  parameters.vertices = 100;
  parameters.arcs = 300;
  parameters.batches = batches;
  parameters.batch_arcs = 150;
  parameters.window = window;
  parameters.lanes_per_vertex = lanes;
  parameters.threads_per_block = 64;
  return parameters;
}

TEST(GraphArrays, AreExactUnderManySchedules) {
  std::uint64_t moves = 0;
  for (std::uint64_t seed = 1; seed <= testing::seeds(24); ++seed) {
    for (const std::uint32_t lanes : {1u, 4u, 32u}) {
      GraphArrays::Parameters parameters = small(4, seed % 2 == 0 ? 0 : 5, lanes);
      if (seed % 3 == 0) parameters.graph = "geometric";
      Rig<KmaReworked> rig(parameters, 1 << 18, {.superblock_bytes = 4096}, seed);
      ASSERT_EQ(rig.sample(), "") << "seed " << seed << ", " << lanes << " lanes";
      ASSERT_EQ(rig.sample(), "") << "seed " << seed << ", " << lanes << " lanes: again on the same heap";
      moves += rig.counter("mallocs") - 100;
    }
  }
  EXPECT_GT(moves, testing::seeds(24) * 3 * 4) << "hardly an array changed its size";
}

TEST(GraphArrays, RunOnAnAllocatorOfSeveralSizeClasses) {
  const HallocReworked::Parameters slabs{.slab_bytes = 65536};
  Rig<HallocReworked> rig(small(3, 4, 1), 4 << 20, slabs);
  EXPECT_EQ(rig.sample(), "");
}

// The counters must be equal to the requests that the allocator got.
TEST(GraphArrays, CountTheirRequests) {
  GraphArrays::Parameters parameters = small(4, 5, 1);
  Rig<AtomicMalloc> rig(parameters, 1 << 20);
  EXPECT_EQ(rig.sample(), "");
  const Adjacency graph = adjacency_of(generate_edge_list(100, 300, 7), false);
  const Updates updates = graph::draw_updates(graph, {4, 150, 5, Deletes::inserted}, 7);
  std::uint64_t inserts = 0;
  std::uint64_t deletes = 0;
  std::uint64_t bytes = updates.bytes;
  for (std::uint32_t u = 0; u < 8; ++u) (u % 2 == 0 ? inserts : deletes) += updates.updates[u].moves;
  EXPECT_GT(inserts, 10u);
  EXPECT_EQ(inserts, deletes) << "the same arcs leave";
  for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) bytes += array_bytes(graph.degree(vertex));
  EXPECT_EQ(rig.counter("mallocs"), graph.vertices() + inserts + deletes);
  EXPECT_EQ(rig.counter("requested_bytes"), bytes);
  std::map<std::string, std::uint64_t> operations;
  for (const Phase& phase : rig.timer->phases()) operations[phase.name] = phase.operations;
  const std::map<std::string, std::uint64_t> expected{
      {"init", graph.vertices()}, {"insert", 2 * inserts}, {"delete", 2 * deletes}, {"free", graph.vertices()}};
  EXPECT_EQ(operations, expected) << "all batches in one phase";
  Rig<AtomicMalloc> just_enough(parameters, bytes);
  EXPECT_EQ(just_enough.sample(), "") << "a bump pointer without headers takes what was asked for";
  Rig<AtomicMalloc> too_little(parameters, bytes - 16);
  EXPECT_NE(too_little.sample(), "");
}

TEST(GraphArrays, AreExactWherePresentArcsLeave) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    GraphArrays::Parameters parameters = small(21, seed % 2 == 0 ? 0 : 5, seed % 3 == 0 ? 4 : 1);
    parameters.deletes = "present";
    parameters.sort = true;
    Rig<KmaReworked> rig(parameters, 1 << 18, {.superblock_bytes = 4096}, seed);
    ASSERT_EQ(rig.sample(), "") << "seed " << seed;
    ASSERT_EQ(rig.sample(), "") << "seed " << seed << ": again on the same heap";
    EXPECT_EQ(rig.timer->phases().at(1).name, "sort");
  }
}

// Requests have up to 64 B. In each batch the arrays of some of the 40 vertices grow.
GraphArrays::Parameters in_slots() {
  GraphArrays::Parameters parameters;
  parameters.graph = "geometric";
  parameters.vertices = 40;
  parameters.batches = 6;
  parameters.batch_arcs = 60;
  parameters.threads_per_block = 32;
  return parameters;
}

TEST(GraphArrays, AcceptTheAllocatorWithoutAFault) {
  Rig<SlotMalloc<Fault::none>> rig(in_slots(), 200 * 64);
  EXPECT_EQ(rig.sample(), "");
}

// Every pointer is right, but the contents are wrong. Only the comparison with the graph can detect this.
TEST(GraphArrays, SeeABlockThatTheAllocatorWroteTo) {
  Rig<SlotMalloc<Fault::scribble>> rig(in_slots(), 200 * 64);
  EXPECT_EQ(rig.sample().find("wrong graph"), 0u) << rig.sample();
}

// The tenth insertion is checked while the rest of the run continues. The arrays of the last insertion are read later.
TEST(GraphArrays, SeeAtTheTenthInsertionWhatLaterOnesWouldHide) {
  GraphArrays::Parameters parameters = in_slots();
  parameters.batches = 12;
  Rig<SlotMalloc<Fault::scribble>> rig(parameters, 200 * 64);
  EXPECT_NE(rig.sample().find("wrong graph: after insertion 10"), std::string::npos) << rig.sample();
}

TEST(GraphArrays, SeeABlockThatWasHandedOutTwice) {
  Rig<SlotMalloc<Fault::double_hand_out>> rig(in_slots(), 4000 * 64);
  EXPECT_NE(rig.sample().find("overlapping"), std::string::npos);
}

TEST(GraphArrays, EndCleanlyWhereMemoryRunsOut) {
  // Every vertex has a slot, but there is none for the new arrays. So the set-up fits, and the first batch does not.
  Rig<SlotMalloc<Fault::none>> rig(in_slots(), 40 * 64);
  for (int sample = 0; sample < 3; ++sample) {
    const std::string problem = rig.sample();
    EXPECT_NE(problem.find(" nulls"), std::string::npos) << problem;
    EXPECT_EQ(rig.timer->phases().size(), 4u) << "the next sample starts from an empty heap again";
  }
  Rig<SlotMalloc<Fault::none>> none(in_slots(), 20 * 64);
  EXPECT_EQ(none.sample(), "20 nulls");
  EXPECT_EQ(none.timer->phases().size(), 2u) << "no batch comes to a graph that was not set up";
}

// Returns the reason that the workload gives before or when it is opened.
template <class A>
std::string refusal(const GraphArrays::Parameters& parameters, std::size_t pool_bytes,
                    const typename A::Parameters& allocator_parameters = {}) {
  test::AllocatorRig rig(test::tested_type<A>(), pool_bytes, test::parameter_values(allocator_parameters));
  const std::string why = GraphArrays::unsupported(parameters, rig.setting);
  if (!why.empty()) return why;
  try {
    static_cast<void>(GraphArrays::open(parameters, rig.setting, rig.stream()));
  } catch (const CellFailure& failure) {
    EXPECT_EQ(failure.status(), Status::unsupported);
    return failure.what();
  }
  return {};
}

TEST(GraphArrays, SayWhyAnAllocatorCannotRunThem) {
  using Slots = SlotMalloc<Fault::none>;
  GraphArrays::Parameters skewed = small(0, 0, 1);
  skewed.arcs = 2000;
  const std::string too_large = refusal<Slots>(skewed, 1 << 20);
  EXPECT_NE(too_large.find("serves requests up to 64 B here, asked for 512 B"), std::string::npos) << too_large;
  EXPECT_NE(refusal<AWMalloc>(small(4, 0, 1), 4096).find("hands out blocks again"), std::string::npos);
  const FdgMallocReworkedOnKma::Parameters bulk{.most_warps = 64};
  EXPECT_NE(
      refusal<FdgMallocReworkedOnKma>(small(1, 0, 1), 8 << 20, bulk).find("frees all blocks of a session at once"),
      std::string::npos);
  EXPECT_EQ(refusal<FdgMallocReworkedOnKma>(small(0, 0, 1), 8 << 20, bulk), "");
  GraphArrays::Parameters odd = small(1, 0, 1);
  odd.threads_per_block = 40;
  EXPECT_THROW(refusal<Slots>(odd, 1 << 20), std::invalid_argument);
}

TEST(GraphArrays, AreSetUpWhereFreesAreInBulk) {
  Rig<FdgMallocReworkedOnKma> rig(small(0, 0, 1), 8 << 20, {.most_warps = 64});
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.sample(), "");
}

}  // namespace
}  // namespace allocbench
