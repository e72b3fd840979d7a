// These functions sort and draw lists of arcs, and list the arcs of a graph that is stored in rows. This is host code.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/graph/adjacency.hpp"

namespace allocbench::graph {

// Sorts the arcs by source and target, and removes repetitions.
void sort_unique(std::vector<Arc>& arcs);

std::vector<Arc> arcs_of(const Adjacency& graph);

// The vertices first to first + count - 1, modulo the number of vertices.
struct Window {
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t vertices;

  // Returns the window of a batch: `width` vertices with successive ids, which follow those of the batch before. A
  // `width` of 0 means all vertices.
  static Window of_batch(std::uint32_t width, std::uint32_t batch, std::uint32_t vertices);
  bool is_all() const { return count == vertices; }
  bool has(std::uint32_t vertex) const { return (std::uint64_t{vertex} + vertices - first) % vertices < count; }
};

// Appends a batch. `arcs` must be sorted as by sort_unique().
void append(UpdateBatches& batches, const std::vector<Arc>& arcs);

// Draws the arcs of one batch, in the order of the draws. Sources lie in the window, targets anywhere.
std::vector<Arc> draw_arcs(const Window& window, std::uint32_t count, std::uint64_t seed, std::uint32_t batch);

}  // namespace allocbench::graph
