// These types are a graph as rows of targets, and batches of updates to it, for graph_arrays. This is host code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simt/bits.hpp"
#include "workloads/graph/edge_list.hpp"

namespace allocbench::graph {

// Returns the bytes of a vertex's array: a power of two and at least 16, also without arcs.
SIMT_HOST_FN std::uint64_t array_bytes(std::uint32_t arcs) {
  return arcs <= 4 ? 16 : std::uint64_t{4} << (32 - simt::count_leading_zeros(arcs - 1));
}

// A graph in compressed rows. The targets of vertex v are targets[first[v]] to targets[first[v + 1] - 1], sorted and
// without repetitions.
struct Adjacency {
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint32_t> targets;

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(first.size() - 1); }
  std::uint32_t degree(std::uint32_t vertex) const { return first[vertex + 1] - first[vertex]; }
  bool has(const Arc& arc) const;
  // kept_input() calls this function.
  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.first);
    visit(self.targets);
  }
};

// Returns the rows of all vertices up to the largest id. Ids without arcs have empty rows. `symmetric` adds the reverse
// of every arc. Throws std::invalid_argument for more than 2^28 vertices or 2^27 arcs in the list.
Adjacency adjacency_of(std::vector<Arc> arcs, bool symmetric);

// Number and bytes of the arrays that change their size when the arcs of a batch are inserted, and again when the arcs
// are deleted.
struct BatchMoves {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;  // bytes of the arrays before and after the insertion, together
  std::uint64_t largest = 0;
};

// Batches of arcs that are inserted or deleted together. Entry i stands for vertex vertices[i] with the targets
// targets[first[i]] to targets[first[i + 1] - 1].
struct UpdateBatches {
  std::vector<std::uint32_t> first_entry{0};  // first entry of each batch, and the number of entries
  std::vector<std::uint32_t> vertices;        // vertices of the entries, sorted and without repetitions within a batch
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint32_t> targets;

  std::uint32_t batches() const { return static_cast<std::uint32_t>(first_entry.size() - 1); }
  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.first_entry);
    visit(self.vertices);
    visit(self.first);
    visit(self.targets);
  }
  BatchMoves moves(const Adjacency& graph, std::uint32_t batch) const;
  // Returns the graph with the arcs of one batch.
  Adjacency inserted_into(const Adjacency& graph, std::uint32_t batch) const;
};

// Draws batches of `size` arcs from the seed. Targets are drawn from all vertices. If `window` is 0, so are sources.
// Otherwise each batch draws its sources from the next `window` vertices by id. Repeated arcs and arcs of the graph are
// left out, so a batch may have fewer arcs than `size`. Each batch is deleted again, so all batches change the same
// graph.
UpdateBatches draw_batches(const Adjacency& graph, std::uint32_t batches, std::uint32_t size, std::uint32_t window,
                           std::uint64_t seed);

// Compares the read rows with those of the graph, as sets. Row v of `targets` starts at expected.first[v]. Returns the
// first difference, or an empty text.
std::string rows_problem(const Adjacency& expected, const std::vector<std::uint32_t>& degrees,
                         const std::vector<std::uint32_t>& targets);

}  // namespace allocbench::graph
