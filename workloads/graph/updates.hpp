// The updates of graph_arrays: batches of inserted and deleted arcs. Host code.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/graph/adjacency.hpp"
#include "workloads/support/random/mix.hpp"

namespace allocbench::graph {

// The deleted arcs: those of the previous batch, or any arcs of the graph.
enum class Deletes { inserted, present };

struct UpdateOptions {
  std::uint32_t batches = 0;
  std::uint32_t arcs = 0;    // drawn for a batch
  std::uint32_t window = 0;  // sources are among so many neighbours by id, the next ones for the next batch; 0: all
  Deletes deletes = Deletes::inserted;
};

// Arcs that are inserted or deleted together.
struct ArcUpdate {
  std::uint32_t begin;  // entries of the lists
  std::uint32_t end;
  std::uint32_t moves;  // arrays that change their size
};

struct Updates {
  // Entry i is vertex vertices[i], each once in an update and growing, with targets[first[i]] to
  // targets[first[i + 1] - 1].
  UpdateBatches lists;
  std::vector<ArcUpdate> updates;  // 2 b inserts batch b, 2 b + 1 deletes
  std::uint64_t bytes = 0;         // of all new arrays
  std::uint64_t largest = 0;       // of them
  Adjacency inserted;              // the graph after the last insertion
  Adjacency final;                 // and at the end

  std::uint32_t batches() const { return static_cast<std::uint32_t>(updates.size() / 2); }
  // For kept_input().
  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    UpdateBatches::for_each_part(self.lists, visit);
    visit(self.updates);
    visit(self.bytes);
    visit(self.largest);
    Adjacency::for_each_part(self.inserted, visit);
    Adjacency::for_each_part(self.final, visit);
  }
  std::uint32_t arcs(const ArcUpdate& update) const { return lists.first[update.end] - lists.first[update.begin]; }
};

SIMT_HOST_FN std::uint64_t arc_word(std::uint32_t source, std::uint32_t target) {
  return std::uint64_t{source} << 32 | target;
}

// Made from the seed. Inserted arcs include neither repeated arcs nor arcs of the graph. If present arcs are deleted,
// their number is the number of draws, or all arcs of the window. Throws std::invalid_argument for more than 2^28 arcs.
Updates draw_updates(const Adjacency& graph, const UpdateOptions& options, std::uint64_t seed);

// arc_word()s of all batches as they were drawn, with repeated arcs and arcs of the graph.
std::vector<std::uint64_t> drawn_words(std::uint32_t vertices, const UpdateOptions& options, std::uint64_t seed);

// The state of a graph after some updates: an order-free digest of the targets of each vertex, and their number.
struct RowDigests {
  std::vector<std::uint64_t> digests;
  std::vector<std::uint32_t> degrees;

  explicit RowDigests(const Adjacency& graph);
  void apply(const Updates& updates, const ArcUpdate& update, bool inserts);
};

// The term of one target.
SIMT_HOST_FN std::uint64_t digest_of(std::uint32_t target) { return mix64(std::uint64_t{target} + 1); }

}  // namespace allocbench::graph
