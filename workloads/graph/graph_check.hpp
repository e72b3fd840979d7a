// The oracle of graph_build: an exact comparison of a built graph with its edge list. Host code, independent of
// devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/graph/edge_list.hpp"

namespace allocbench::graph {

// Contents of nodes and edges from device memory, each with its address. Links are addresses, 0 = none.
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

// The expected graph of a list. Made once per list, because the graph of every sample is compared with it.
struct ExpectedGraph {
  ExpectedGraph() = default;
  explicit ExpectedGraph(std::vector<Arc> list);

  std::vector<std::uint32_t> ids;  // sorted
  std::vector<Arc> arcs;           // by source, then target
};

// Walks the tree from its root and every list. Each node and edge must be reached exactly once. Keys must grow from
// left to right and be the ids of the list. The edges of a node must lead to the targets of its arcs, repeated ones as
// often as they occur. Returns the first mistake, or an empty text.
std::string graph_problem(const BuiltGraph& graph, const ExpectedGraph& expected);

}  // namespace allocbench::graph
