// The oracle of graph_build compares a built graph exactly with its edge list. It is host code and does not depend on
// devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/graph/edge_list.hpp"

namespace allocbench::graph {

// A copy of a node in device memory, with its address. Links are addresses; 0 means none.
struct NodeCopy {
  std::uint64_t address;
  std::uint32_t key;
  std::uint64_t left;
  std::uint64_t right;
  std::uint64_t edges;
};
struct EdgeCopy {
  std::uint64_t address;
  std::uint64_t next;
  std::uint64_t target;
};
struct BuiltGraph {
  std::uint64_t root = 0;
  std::vector<NodeCopy> nodes;
  std::vector<EdgeCopy> edges;
};

// The expected graph of a list. It is made once per list, because the graph of every sample is compared with it.
struct ExpectedGraph {
  ExpectedGraph() = default;
  explicit ExpectedGraph(std::vector<Arc> list);

  std::vector<std::uint32_t> ids;  // sorted
  std::vector<Arc> arcs;           // arcs sorted by source, then by target
};

// Walks every list and the tree from its root. Each node and edge must be reached exactly once. Keys must grow from
// left to right and be the ids of the list. The edges of a node and its arcs must have the same targets,
// each equally often. Returns the first mistake, or an empty text.
std::string graph_problem(const BuiltGraph& graph, const ExpectedGraph& expected);

}  // namespace allocbench::graph
