// graph_arrays: rows and batches against plain counting, the oracle with planted faults, and the workload under many
// schedules.
#include "workloads/graph/graph_arrays.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/bump/aw_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/halloc/halloc_reworked.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/common/call_kernels.hpp"
#include "workloads/graph/arrays_kernels.hpp"

namespace allocbench {
namespace {

using graph::Adjacency;
using graph::adjacency_of;
using graph::array_bytes;
using graph::UpdateBatches;
using test::Fault;
using test::SlotMalloc;

template <class A>
using Rig = test::WorkloadRig<GraphArrays, A, graph::ArraysKernels, CallKernels>;

TEST(ArrayBytes, ArePowersOfTwoThatHoldTheTargets) {
  for (std::uint32_t arcs = 0; arcs < 5000; ++arcs) {
    std::uint64_t expected = 16;
    while (expected < 4 * arcs) expected *= 2;
    ASSERT_EQ(array_bytes(arcs), expected) << arcs;
  }
  EXPECT_EQ(array_bytes(1u << 28), 1ull << 30);
}

TEST(Adjacency, HasEachArcOnceInGrowingOrder) {
  const Adjacency graph = adjacency_of({{3, 1}, {0, 2}, {3, 0}, {3, 1}, {2, 2}}, false);
  EXPECT_EQ(graph.first, (std::vector<std::uint32_t>{0, 1, 1, 2, 4}));
  EXPECT_EQ(graph.targets, (std::vector<std::uint32_t>{2, 2, 0, 1}));
  EXPECT_TRUE(graph.has({3, 1}));
  EXPECT_FALSE(graph.has({1, 3}));
  const Adjacency both = adjacency_of({{3, 1}, {1, 3}, {0, 2}, {2, 2}}, true);
  EXPECT_EQ(both.first, (std::vector<std::uint32_t>{0, 1, 2, 4, 5}));
  EXPECT_EQ(both.targets, (std::vector<std::uint32_t>{2, 3, 0, 2, 1}));
  EXPECT_THROW(adjacency_of({{0, 1u << 28}}, false), std::invalid_argument);
}

// Counted from the file by other means.
TEST(Adjacency, OfTheRepositorysListHasTheseArrays) {
  std::map<std::uint64_t, std::uint32_t> arrays;
  const Adjacency graph = adjacency_of(read_edge_list("kma_64k"), false);
  for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) ++arrays[array_bytes(graph.degree(vertex))];
  EXPECT_EQ(arrays, (std::map<std::uint64_t, std::uint32_t>{
                        {16, 12355}, {32, 1753}, {64, 1647}, {128, 768}, {256, 164}, {512, 14}}));
}

TEST(EdgeList, OfPointsJoinsNearOnesBothWays) {
  constexpr std::uint32_t vertices = 2000;
  const std::vector<Arc> arcs = generate_geometric(vertices, 5);
  EXPECT_EQ(arcs, generate_geometric(vertices, 5));
  const Adjacency graph = adjacency_of(arcs, false);
  EXPECT_EQ(graph.targets.size(), arcs.size()) << "an arc came twice";
  EXPECT_EQ(graph.targets, adjacency_of(arcs, true).targets);
  const double mean = static_cast<double>(arcs.size()) / vertices;
  EXPECT_NEAR(mean, 0.95 * std::log(vertices), 1.0);
}

std::set<std::pair<std::uint32_t, std::uint32_t>> arcs_of(const UpdateBatches& batches, std::uint32_t batch) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t entry = batches.first_entry[batch]; entry < batches.first_entry[batch + 1]; ++entry) {
    for (std::uint32_t at = batches.first[entry]; at < batches.first[entry + 1]; ++at) {
      EXPECT_TRUE(arcs.insert({batches.vertices[entry], batches.targets[at]}).second) << "an arc comes twice";
    }
  }
  return arcs;
}

TEST(UpdateBatches, BringNewArcsFromTheirWindow) {
  const Adjacency graph = adjacency_of(generate_edge_list(64, 400, 1), false);
  for (const std::uint32_t window : {0u, 7u}) {
    const UpdateBatches batches = graph::draw_batches(graph, 20, 50, window, 3);
    ASSERT_EQ(batches.batches(), 20u);
    std::size_t drawn = 0;
    for (std::uint32_t batch = 0; batch < 20; ++batch) {
      std::set<std::uint32_t> vertices(batches.vertices.begin() + batches.first_entry[batch],
                                       batches.vertices.begin() + batches.first_entry[batch + 1]);
      EXPECT_EQ(vertices.size(), batches.first_entry[batch + 1] - batches.first_entry[batch]) << "a vertex comes twice";
      for (const auto& [source, target] : arcs_of(batches, batch)) {
        EXPECT_FALSE(graph.has({source, target}));
        if (window != 0) {
          EXPECT_LT((source + graph.vertices() - batch * window % graph.vertices()) % graph.vertices(), window);
        }
        ++drawn;
      }
    }
    EXPECT_GT(drawn, 20u * 30);
    EXPECT_EQ(batches.targets, graph::draw_batches(graph, 20, 50, window, 3).targets);
    EXPECT_NE(batches.targets, graph::draw_batches(graph, 20, 50, window, 4).targets);
  }
}

TEST(UpdateBatches, CountTheArraysThatChangeTheirSize) {
  // Vertex 0 has four arcs (16 B), vertex 1 three, vertex 2 none.
  const Adjacency graph = adjacency_of({{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {3, 9}}, false);
  UpdateBatches batches;
  batches.vertices = {0, 1, 2};
  batches.first = {0, 5, 6, 11};
  batches.targets = {4, 5, 6, 7, 8, 3, 1, 2, 3, 4, 5};
  batches.first_entry = {0, 3};
  const graph::BatchMoves moves = batches.moves(graph, 0);
  EXPECT_EQ(moves.count, 2u) << "0 grows to nine arcs, 1 stays at 16 B, 2 grows to five";
  EXPECT_EQ(moves.bytes, (64u + 16) + (32u + 16));
  EXPECT_EQ(moves.largest, 64u);
  const Adjacency with = batches.inserted_into(graph, 0);
  EXPECT_EQ(with.first.size(), graph.first.size());
  EXPECT_EQ(with.degree(0), 9u);
  EXPECT_EQ(with.degree(2), 5u);
  EXPECT_EQ(with.degree(9), 0u);
}

TEST(RowsProblem, ComparesRowsAsSets) {
  const Adjacency graph = adjacency_of({{0, 1}, {0, 2}, {2, 0}}, false);
  EXPECT_EQ(graph::rows_problem(graph, {2, 0, 1}, {2, 1, 0}), "");
  EXPECT_EQ(graph::rows_problem(graph, {2, 0, 1}, {2, 2, 0}), "the array of vertex 0 does not hold its 2 arcs");
  EXPECT_EQ(graph::rows_problem(graph, {2, 1, 1}, {2, 1, 0}), "vertex 1 has 1 arcs instead of 0");
}

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
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    for (const std::uint32_t lanes : {1u, 4u, 32u}) {
      GraphArrays::Parameters parameters = small(4, seed % 2 == 0 ? 0 : 5, lanes);
      if (seed % 3 == 0) parameters.graph = "geometric";
      Rig<KmaReworked> rig(parameters, 1 << 18, {.superblock_bytes = 4096}, seed);
      ASSERT_EQ(rig.sample(), "") << "seed " << seed << ", " << lanes << " lanes";
      ASSERT_EQ(rig.sample(), "") << "seed " << seed << ", " << lanes << " lanes: again on the same heap";
      moves += rig.counter("mallocs") - 100;
    }
  }
  EXPECT_GT(moves, 24u * 3 * 4) << "hardly an array changed its size";
}

TEST(GraphArrays, RunOnAnAllocatorOfSeveralSizeClasses) {
  const HallocReworked::Parameters slabs{.slab_bytes = 65536};
  Rig<HallocReworked> rig(small(3, 4, 1), 4 << 20, slabs);
  EXPECT_EQ(rig.sample(), "");
}

// What the counters say is what the allocator was asked for.
TEST(GraphArrays, CountTheirRequests) {
  GraphArrays::Parameters parameters = small(4, 5, 1);
  Rig<AtomicMalloc> rig(parameters, 1 << 20);
  EXPECT_EQ(rig.sample(), "");
  const Adjacency graph = adjacency_of(generate_edge_list(100, 300, 7), false);
  const UpdateBatches batches = graph::draw_batches(graph, 4, 150, 5, 7);
  std::uint64_t moves = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t batch = 0; batch < 4; ++batch) {
    moves += batches.moves(graph, batch).count;
    bytes += batches.moves(graph, batch).bytes;
  }
  EXPECT_GT(moves, 10u);
  for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) bytes += array_bytes(graph.degree(vertex));
  EXPECT_EQ(rig.counter("mallocs"), graph.vertices() + 2 * moves);
  EXPECT_EQ(rig.counter("requested_bytes"), bytes);
  std::map<std::string, std::uint64_t> operations;
  for (const Phase& phase : rig.timer->phases()) operations[phase.name] = phase.operations;
  const std::map<std::string, std::uint64_t> expected{
      {"init", graph.vertices()}, {"insert", 2 * moves}, {"delete", 2 * moves}, {"free", graph.vertices()}};
  EXPECT_EQ(operations, expected) << "all batches in one phase";
  Rig<AtomicMalloc> just_enough(parameters, bytes);
  EXPECT_EQ(just_enough.sample(), "") << "a bump pointer without headers takes what was asked for";
  Rig<AtomicMalloc> too_little(parameters, bytes - 16);
  EXPECT_NE(too_little.sample(), "");
}

// Requests up to 64 B: four vertices, of which each batch makes some grow.
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

// Every pointer is right, only the contents are not: nothing but the comparison with the graph can see it.
TEST(GraphArrays, SeeABlockThatTheAllocatorWroteTo) {
  Rig<SlotMalloc<Fault::scribble>> rig(in_slots(), 200 * 64);
  EXPECT_EQ(rig.sample().find("wrong graph"), 0u) << rig.sample();
}

TEST(GraphArrays, SeeABlockThatWasHandedOutTwice) {
  Rig<SlotMalloc<Fault::double_hand_out>> rig(in_slots(), 4000 * 64);
  EXPECT_NE(rig.sample().find("overlapping"), std::string::npos);
}

TEST(GraphArrays, EndCleanlyWhereMemoryRunsOut) {
  // A slot for every vertex and none for the new arrays: the set-up fits, the first batch does not.
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

// What the workload says before it is opened, or then.
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
