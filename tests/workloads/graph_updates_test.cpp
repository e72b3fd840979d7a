// These tests compare rows and updates of graph_arrays with plain counting.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "workloads/graph/arcs.hpp"
#include "workloads/graph/updates.hpp"

namespace allocbench {
namespace {

using graph::Adjacency;
using graph::adjacency_of;
using graph::ArcUpdate;
using graph::array_bytes;
using graph::Deletes;
using graph::UpdateOptions;
using graph::Updates;

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

// Another program counted the expected numbers in the edge list.
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

using ArcSet = std::set<std::pair<std::uint32_t, std::uint32_t>>;

ArcSet arcs_of(const Updates& updates, const ArcUpdate& update) {
  ArcSet arcs;
  for (std::uint32_t entry = update.begin; entry < update.end; ++entry) {
    EXPECT_TRUE(entry == update.begin || updates.lists.vertices[entry - 1] < updates.lists.vertices[entry])
        << "not growing";
    for (std::uint32_t at = updates.lists.first[entry]; at < updates.lists.first[entry + 1]; ++at) {
      EXPECT_TRUE(arcs.insert({updates.lists.vertices[entry], updates.lists.targets[at]}).second)
          << "an arc comes twice";
    }
  }
  return arcs;
}

ArcSet set_of(const Adjacency& graph) {
  ArcSet arcs;
  for (const Arc& arc : graph::arcs_of(graph)) arcs.insert({arc.source, arc.target});
  return arcs;
}

// Every update is compared with a set of arcs to which all updates are applied.
TEST(Updates, BringNewArcsAndTakeThoseThatTheGraphHas) {
  const Adjacency graph = adjacency_of(generate_edge_list(64, 400, 1), false);
  for (const std::uint32_t window : {0u, 7u}) {
    for (const Deletes deletes : {Deletes::inserted, Deletes::present}) {
      const UpdateOptions options{20, 50, window, deletes};
      const Updates updates = graph::draw_updates(graph, options, 3);
      ASSERT_EQ(updates.batches(), 20u);
      ArcSet present = set_of(graph);
      std::size_t drawn = 0;
      for (std::uint32_t u = 0; u < 40; ++u) {
        const ArcSet arcs = arcs_of(updates, updates.updates[u]);
        EXPECT_EQ(arcs.size(), updates.arcs(updates.updates[u]));
        for (const auto& [source, target] : arcs) {
          if (window != 0) {
            EXPECT_LT((source + graph.vertices() - u / 2 * window % graph.vertices()) % graph.vertices(), window);
          }
          EXPECT_TRUE(u % 2 == 0 ? present.insert({source, target}).second : present.erase({source, target}) == 1);
        }
        drawn += arcs.size();
        if (u % 2 == 1 && deletes == Deletes::inserted) {
          EXPECT_EQ(arcs, arcs_of(updates, updates.updates[u - 1]));
        }
        if (u == 38) {
          EXPECT_EQ(present, set_of(updates.inserted));
        }
      }
      EXPECT_EQ(present, set_of(updates.final));
      EXPECT_EQ(updates.final.first.size(), graph.first.size());
      EXPECT_EQ(present == set_of(graph), deletes == Deletes::inserted);
      EXPECT_GT(drawn, 2u * 20 * 25);
      const std::vector<std::uint64_t> words = graph::drawn_words(graph.vertices(), options, 3);
      ASSERT_EQ(words.size(), 20u * 50);
      const std::set<std::uint64_t> first(words.begin(), words.begin() + 50);
      for (const auto& [source, target] : arcs_of(updates, updates.updates[0])) {
        EXPECT_TRUE(first.contains(graph::arc_word(source, target)));
      }
      EXPECT_EQ(updates.lists.targets, graph::draw_updates(graph, options, 3).lists.targets);
      EXPECT_NE(updates.lists.targets, graph::draw_updates(graph, options, 4).lists.targets);
    }
  }
}

// Degrees and powers of two are counted again for every update.
TEST(Updates, CountTheArraysThatChangeTheirSize) {
  const Adjacency graph = adjacency_of(generate_edge_list(32, 100, 1), false);
  for (const Deletes deletes : {Deletes::inserted, Deletes::present}) {
    const Updates updates = graph::draw_updates(graph, {10, 60, 0, deletes}, 5);
    ArcSet present = set_of(graph);
    const auto bytes_of = [&](std::uint32_t vertex) {
      const auto arcs = std::distance(present.lower_bound({vertex, 0}), present.lower_bound({vertex + 1, 0}));
      return array_bytes(static_cast<std::uint32_t>(arcs));
    };
    std::uint32_t all_moves = 0;
    std::uint64_t all_bytes = 0;
    std::uint64_t largest = 0;
    for (std::uint32_t u = 0; u < 20; ++u) {
      std::vector<std::uint64_t> before;
      for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) before.push_back(bytes_of(vertex));
      for (const auto& arc : arcs_of(updates, updates.updates[u])) {
        if (u % 2 == 0) {
          present.insert(arc);
        } else {
          present.erase(arc);
        }
      }
      std::uint32_t moves = 0;
      for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
        const std::uint64_t after = bytes_of(vertex);
        if (after == before[vertex]) continue;
        ++moves;
        all_bytes += after;
        largest = std::max(largest, after);
      }
      EXPECT_EQ(updates.updates[u].moves, moves) << u;
      all_moves += moves;
    }
    EXPECT_GT(all_moves, 40u);
    EXPECT_EQ(updates.bytes, all_bytes);
    EXPECT_EQ(updates.largest, largest);
  }
}

TEST(RowDigests, FollowTheGraph) {
  const Adjacency graph = adjacency_of(generate_edge_list(32, 100, 1), false);
  const Updates updates = graph::draw_updates(graph, {3, 40, 0, Deletes::present}, 5);
  graph::RowDigests now(graph);
  for (std::uint32_t u = 0; u < 6; ++u) {
    now.apply(updates, updates.updates[u], u % 2 == 0);
    if (u == 4) {
      EXPECT_EQ(now.digests, graph::RowDigests(updates.inserted).digests);
    }
  }
  EXPECT_EQ(now.digests, graph::RowDigests(updates.final).digests);
  EXPECT_EQ(now.degrees, graph::RowDigests(updates.final).degrees);
  EXPECT_NE(now.digests, graph::RowDigests(graph).digests);
}

TEST(RowsProblem, ComparesRowsAsSets) {
  const Adjacency graph = adjacency_of({{0, 1}, {0, 2}, {2, 0}}, false);
  EXPECT_EQ(graph::rows_problem(graph, {2, 0, 1}, {2, 1, 0}), "");
  EXPECT_EQ(graph::rows_problem(graph, {2, 0, 1}, {2, 2, 0}), "the array of vertex 0 does not hold its 2 arcs");
  EXPECT_EQ(graph::rows_problem(graph, {2, 1, 1}, {2, 1, 0}), "vertex 1 has 1 arcs instead of 0");
}

}  // namespace
}  // namespace allocbench
