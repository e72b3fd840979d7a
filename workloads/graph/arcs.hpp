// Lists of arcs: sorted, drawn, and taken from rows. Host side.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/graph/adjacency.hpp"

namespace allocbench::graph {

// By source and target, each once.
void sort_unique(std::vector<Arc>& arcs);

std::vector<Arc> arcs_of(const Adjacency& graph);

// Vertices first to first + count - 1, around the end.
struct Window {
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t vertices;

  // The window of a batch: `width` neighbours by id, and the next ones for the next batch. 0 means all vertices.
  static Window of_batch(std::uint32_t width, std::uint32_t batch, std::uint32_t vertices);
  bool is_all() const { return count == vertices; }
  bool has(std::uint32_t vertex) const { return (std::uint64_t{vertex} + vertices - first) % vertices < count; }
};

// A further batch; arcs as sort_unique() leaves them.
void append(UpdateBatches& batches, const std::vector<Arc>& arcs);

// The arcs of one batch in the order of their draws: sources in the window, any target.
std::vector<Arc> draw_arcs(const Window& window, std::uint32_t count, std::uint64_t seed, std::uint32_t batch);

}  // namespace allocbench::graph
