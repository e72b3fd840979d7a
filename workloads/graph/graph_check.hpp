// The oracle of graph_build: a built graph against its edge list, exactly. Host side; knows nothing of devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/graph/edge_list.hpp"

namespace allocbench::graph {

// Contents of nodes and edges as they lay in device memory, each with its address; links are addresses, 0 = none.
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

// What a list's graph must have. Made once for a list, because every sample's graph is checked against it.
struct ExpectedGraph {
  ExpectedGraph() = default;
  explicit ExpectedGraph(std::vector<Arc> list);

  std::vector<std::uint32_t> ids;  // sorted
  std::vector<Arc> arcs;           // by source, then target
};

// Walks the tree from its root and every list: each node and edge is reached exactly once, keys grow from left to right
// and are the ids of the list, and the edges of a node lead to the targets of its arcs, repeated ones as often as they
// occur. Empty when that holds, else the first offence.
std::string graph_problem(const BuiltGraph& graph, const ExpectedGraph& expected);

}  // namespace allocbench::graph
