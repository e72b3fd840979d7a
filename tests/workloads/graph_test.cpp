// These tests check edge lists, run graph_build under many schedules, and plant faults that its oracle must find.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/graph/build_kernels.hpp"
#include "workloads/graph/graph_build.hpp"
#include "workloads/graph/graph_check.hpp"

namespace allocbench {
namespace {

template <class A>
using Rig = test::WorkloadRig<GraphBuild, A, GraphBuildKernels>;

TEST(EdgeList, IsParsedLineByLine) {
  const std::vector<Arc> expected{{1, 2}, {7, 4294967295u}};
  EXPECT_EQ(parse_edge_list("1 2\n7\t4294967295\n", "test"), expected);
  EXPECT_EQ(parse_edge_list("1 2\r\n7 4294967295", "test"), expected);
}

TEST(EdgeList, NamesTheWrongLine) {
  for (const char* text : {"1 2\n3\n", "1 2\n3 x\n", "1 2\n3 4 5\n", "1 2\n3 4294967296\n", "1 2\n\n"}) {
    try {
      parse_edge_list(text, "test");
      FAIL() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).find("test:2: "), 0u) << error.what();
    }
  }
  EXPECT_THROW(parse_edge_list("", "test"), std::invalid_argument);
  EXPECT_THROW(read_edge_list("there_is_no_such_graph"), std::invalid_argument);
}

TEST(EdgeList, OfThePaperHasItsSize) {
  std::vector<Arc> arcs = read_edge_list("kma_64k");
  EXPECT_EQ(arcs.size(), 65536u);
  EXPECT_EQ(distinct_ids(arcs).size(), 9765u);
  EXPECT_EQ(arcs.front(), (Arc{8364, 4986}));
}

TEST(EdgeList, IsGeneratedFromTheSeedAlone) {
  const std::vector<Arc> arcs = generate_edge_list(1000, 5000, 3);
  EXPECT_EQ(arcs.size(), 5000u);
  EXPECT_LT(distinct_ids(arcs).back(), 1000u);
  EXPECT_EQ(arcs, generate_edge_list(1000, 5000, 3));
  EXPECT_NE(arcs, generate_edge_list(1000, 5000, 4));
  std::vector<Arc> fewer = generate_edge_list(1000, 100, 3);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), arcs.begin()));
}

// R-MAT is skewed: the vertices have 16 arcs on average, but one has more than 200, and more than 50 have none.
TEST(EdgeList, HasFewVerticesWithManyArcs) {
  std::vector<std::uint32_t> degrees(1024);
  for (const Arc& arc : generate_edge_list(1024, 16384, 1)) ++degrees[arc.source];
  EXPECT_GT(*std::max_element(degrees.begin(), degrees.end()), 200u);
  EXPECT_GT(std::count(degrees.begin(), degrees.end(), 0u), 50);
}

TEST(EdgeList, KeepsItsArcsWhenShuffled) {
  std::vector<Arc> arcs(100);
  for (std::uint32_t i = 0; i < 100; ++i) arcs[i] = {i, i + 1};
  std::vector<Arc> shuffled = arcs;
  shuffle(shuffled, 5);
  EXPECT_NE(shuffled, arcs);
  std::sort(shuffled.begin(), shuffled.end(), [](const Arc& a, const Arc& b) { return a.source < b.source; });
  EXPECT_EQ(shuffled, arcs);
}

TEST(EdgeList, MadeForTheCaseStudyHasAboutTenThousandNodes) {
  const GraphBuild::Parameters defaults;
  const std::size_t nodes = distinct_ids(generate_edge_list(defaults.vertices, defaults.arcs, 1)).size();
  EXPECT_GT(nodes, 9'000u);
  EXPECT_LT(nodes, 11'000u);
}

// The graph has nodes 2 (root), 1 and 3, and arcs 2 -> 1, 2 -> 3 twice, and 3 -> 3.
const std::vector<Arc> small_list{{2, 3}, {2, 1}, {3, 3}, {2, 3}};
graph::BuiltGraph small_graph() {
  graph::BuiltGraph graph;
  graph.root = 0x200;
  graph.nodes = {{0x200, 2, 0x100, 0x300, 0xa0}, {0x100, 1, 0, 0, 0}, {0x300, 3, 0, 0, 0xd0}};
  graph.edges = {{0xa0, 0xb0, 0x300}, {0xb0, 0xc0, 0x100}, {0xc0, 0, 0x300}, {0xd0, 0, 0x300}};
  return graph;
}

// Returns the message of the check for the graph after a change.
template <class Change>
std::string problem_after(Change change) {
  graph::BuiltGraph graph = small_graph();
  change(graph);
  return graph::graph_problem(graph, graph::ExpectedGraph(small_list));
}

TEST(GraphCheck, AcceptsTheGraph) {
  EXPECT_EQ(graph::graph_problem(small_graph(), graph::ExpectedGraph(small_list)), "");
}

TEST(GraphCheck, FindsWrongLinks) {
  EXPECT_EQ(problem_after([](auto& graph) { graph.nodes[1].left = 0x200; }), "two links lead to one node");
  EXPECT_EQ(problem_after([](auto& graph) { graph.nodes[0].right = 0xa0; }), "a link leads to no node");
  EXPECT_EQ(problem_after([](auto& graph) { graph.edges[2].next = 0xa0; }), "two links lead to one edge");
  EXPECT_EQ(problem_after([](auto& graph) { graph.edges[3].target = 0xa0; }), "an edge of node 3 leads to no node");
  EXPECT_EQ(problem_after([](auto& graph) { graph.nodes[1].address = 0x200; }), "two nodes have one address");
}

TEST(GraphCheck, FindsMissingAndSuperfluousNodes) {
  EXPECT_EQ(problem_after([](auto& graph) { graph.nodes[0].left = 0; }), "the tree has no node 1 where it belongs");
  EXPECT_EQ(problem_after([](auto& graph) { graph.nodes[0].right = 0; }), "the tree has no node 3 where it belongs");
  EXPECT_EQ(problem_after([](auto& graph) { graph.nodes[1].key = 0; }), "the tree has a node 0 where none belongs");
  EXPECT_EQ(problem_after([](auto& graph) {
              graph.nodes[2].right = 0x400;
              graph.nodes.push_back({0x400, 4, 0, 0, 0});
            }),
            "the tree has a node 4 where none belongs");
}

TEST(GraphCheck, ComparesArcsExactly) {
  constexpr std::string_view wrong_arcs = "the edges of node 2 are not its 3 arcs";
  EXPECT_EQ(problem_after([](auto& graph) { graph.edges[0].target = 0x100; }), wrong_arcs);
  EXPECT_EQ(problem_after([](auto& graph) { graph.edges[1].next = 0; }), wrong_arcs);
  EXPECT_EQ(problem_after([](auto& graph) { graph.edges.push_back({0xe0, 0, 0x100}); }), "an edge is in no list");
}

GraphBuild::Parameters small(std::uint32_t vertices, bool hold) {
  GraphBuild::Parameters parameters;
  parameters.graph = "generated";
  parameters.vertices = vertices;
  parameters.arcs = 200;
  parameters.threads = 100;
  parameters.threads_per_block = 40;
  parameters.hold = hold;
  return parameters;
}

TEST(GraphBuild, IsExactUnderManySchedules) {
  std::uint64_t lost_races = 0;
  for (const bool hold : {false, true}) {
    for (std::uint64_t seed = 1; seed <= testing::seeds(30); ++seed) {
      const GraphBuild::Parameters parameters = small(seed % 2 == 0 ? 8 : 128, hold);
      Rig<KmaReworked> rig(parameters, 1 << 17, {.superblock_bytes = 4096}, seed);
      ASSERT_EQ(rig.sample(), "") << "seed " << seed;
      ASSERT_EQ(rig.sample(), "") << "seed " << seed << ": again on the same heap";
      const std::uint64_t nodes = distinct_ids(generate_edge_list(parameters.vertices, 200, seed)).size();
      EXPECT_EQ(rig.counter("mallocs"), 200 + nodes + rig.counter("frees"));
      if (hold) {
        EXPECT_LE(rig.counter("frees"), 100u) << "one left over per thread at most";
      }
      lost_races += rig.counter("frees");
    }
  }
  EXPECT_GT(lost_races, 0u) << "the schedules never made two threads meet";
}

TEST(GraphBuild, OfOneThreadLosesNoRace) {
  GraphBuild::Parameters parameters = small(64, false);
  parameters.threads = 1;
  Rig<AtomicMalloc> rig(parameters, 1 << 16);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.counter("frees"), 0u);
}

GraphBuild::Parameters by_warp(std::uint32_t vertices) {
  GraphBuild::Parameters parameters = small(vertices, false);
  parameters.requests = "warp";
  return parameters;
}

TEST(GraphBuild, IsExactWithRequestsOfWarps) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(30); ++seed) {
    for (const std::uint32_t lanes : {1u, 3u, 32u}) {
      GraphBuild::Parameters parameters = by_warp(seed % 2 == 0 ? 8 : 128);
      parameters.lanes_per_warp = lanes;
      parameters.threads = lanes * 3;
      parameters.threads_per_block = 64;
      Rig<KmaReworked> rig(parameters, 1 << 18, {.superblock_bytes = 4096}, seed);
      ASSERT_EQ(rig.sample(), "") << "seed " << seed;
      ASSERT_EQ(rig.sample(), "") << "seed " << seed << ": again on the same heap";
      EXPECT_EQ(rig.counter("frees"), 0u);
      EXPECT_LE(rig.counter("mallocs"), 2 * (200 / lanes + 4));
    }
  }
}

// The 100 threads in blocks of 40 form five warps with 32, 8 or 20 lanes. They take 200 arcs in two turns, and each
// warp makes one or two requests per turn.
TEST(GraphBuild, MakesFewRequestsWhereWarpsAsk) {
  Rig<AtomicMalloc> rig(by_warp(64), 1 << 16);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_GE(rig.counter("mallocs"), 2 * 5u);
  EXPECT_LE(rig.counter("mallocs"), 4 * 5u);
}

TEST(GraphBuild, CountsLostArcsWhereMemoryRunsOut) {
  Rig<AtomicMalloc> rig(small(64, false), 2048);
  EXPECT_NE(rig.sample().find("nulls"), std::string::npos);
  Rig<AtomicMalloc> warps(by_warp(64), 4096);
  EXPECT_NE(warps.sample().find("nulls"), std::string::npos);
}

TEST(GraphBuild, SaysWhichRequestsOfWarpsAreTooLarge) {
  EXPECT_NE((test::why_unsupported<GraphBuild, KmaReworked>(by_warp(64), 1 << 18, {.superblock_bytes = 2048})), "");
}

TEST(GraphBuild, RunsWhereFreesAreInBulk) {
  Rig<FdgMallocReworkedOnKma> rig(small(64, false), 8 << 20, {.most_warps = 64});
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.sample(), "");
}

}  // namespace
}  // namespace allocbench
