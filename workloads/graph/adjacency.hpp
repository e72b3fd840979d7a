// A graph as rows of targets, and batches of updates to it, for graph_arrays. Host code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simt/bits.hpp"
#include "workloads/graph/edge_list.hpp"

namespace allocbench::graph {

// Bytes of the array of a vertex: a power of two, 16 at least, also for vertices without arcs.
SIMT_HOST_FN std::uint64_t array_bytes(std::uint32_t arcs) {
  return arcs <= 4 ? 16 : std::uint64_t{4} << (32 - simt::count_leading_zeros(arcs - 1));
}

// Compressed rows: the targets of vertex v are targets[first[v]] to targets[first[v + 1] - 1], growing, each once.
struct Adjacency {
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint32_t> targets;

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(first.size() - 1); }
  std::uint32_t degree(std::uint32_t vertex) const { return first[vertex + 1] - first[vertex]; }
  bool has(const Arc& arc) const;
  // For kept_input().
  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.first);
    visit(self.targets);
  }
};

// The rows of all vertices up to the largest id. Ids without arcs have empty rows. `symmetric` adds the reverse of
// every arc. Throws std::invalid_argument for more than 2^28 vertices or arcs.
Adjacency adjacency_of(std::vector<Arc> arcs, bool symmetric);

// The vertices of a batch whose arrays change their size when the arcs of the batch are inserted, and again when they
// are deleted.
struct BatchMoves {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;  // of the arrays of both ways
  std::uint64_t largest = 0;
};

// Arcs that are inserted together, and later deleted together. Entry i is vertex vertices[i] with
// targets[first[i]] to targets[first[i + 1] - 1].
struct UpdateBatches {
  std::vector<std::uint32_t> first_entry{0};  // by batch, and the end
  std::vector<std::uint32_t> vertices;        // growing within a batch, each once
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
  // The graph with the arcs of one batch.
  Adjacency inserted_into(const Adjacency& graph, std::uint32_t batch) const;
};

// `size` arcs per batch from the seed, with any target. Sources are drawn from all vertices or, if `window` is not 0,
// from this many neighbours by id, and the next batch has the next neighbours. A batch has neither repeated arcs nor
// arcs of the graph. Each batch is deleted again, so all batches change the same graph.
UpdateBatches draw_batches(const Adjacency& graph, std::uint32_t batches, std::uint32_t size, std::uint32_t window,
                           std::uint64_t seed);

// The oracle: compares the arrays that were read, row v at expected.first[v], with the graph, as sets. Returns the
// first difference, or an empty text.
std::string rows_problem(const Adjacency& expected, const std::vector<std::uint32_t>& degrees,
                         const std::vector<std::uint32_t>& targets);

}  // namespace allocbench::graph
