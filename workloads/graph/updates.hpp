// Updates are batches of arcs that graph_arrays inserts and deletes. This is host code.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/graph/adjacency.hpp"
#include "workloads/support/random/mix.hpp"

namespace allocbench::graph {

// The deleted arcs are those of the batch that was inserted last, or any arcs of the graph.
enum class Deletes { inserted, present };

struct UpdateOptions {
  std::uint32_t batches = 0;
  std::uint32_t arcs = 0;    // arcs drawn for a batch
  std::uint32_t window = 0;  // number of successive ids that sources are drawn from; 0: all vertices
  Deletes deletes = Deletes::inserted;
};

// Arcs that are inserted or deleted together.
struct ArcUpdate {
  std::uint32_t begin;  // first entry in the lists
  std::uint32_t end;
  std::uint32_t moves;  // arrays that change their size
};

struct Updates {
  // Entry i stands for vertex vertices[i] with the targets targets[first[i]] to targets[first[i + 1] - 1]. The vertices
  // of an update are sorted and do not repeat.
  UpdateBatches lists;
  std::vector<ArcUpdate> updates;  // update 2 b inserts batch b, update 2 b + 1 deletes
  std::uint64_t bytes = 0;         // bytes of all new arrays
  std::uint64_t largest = 0;       // bytes of the largest new array
  Adjacency inserted;              // the graph after the last insertion
  Adjacency final;                 // the graph at the end

  std::uint32_t batches() const { return static_cast<std::uint32_t>(updates.size() / 2); }
  // kept_input() calls this function.
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

// Draws the updates from the seed. Inserted arcs include neither repeated arcs nor arcs of the graph. With
// Deletes::present, a batch deletes UpdateOptions::arcs arcs, or all arcs of the window if these are fewer. Throws
// std::invalid_argument for more than 2^28 arcs.
Updates draw_updates(const Adjacency& graph, const UpdateOptions& options, std::uint64_t seed);

// Returns the arc_word()s of all batches as they were drawn, with repeated arcs and arcs of the graph.
std::vector<std::uint64_t> drawn_words(std::uint32_t vertices, const UpdateOptions& options, std::uint64_t seed);

// The state of a graph after some updates: the number of targets of each vertex, and a digest of them that does not
// depend on their order.
struct RowDigests {
  std::vector<std::uint64_t> digests;
  std::vector<std::uint32_t> degrees;

  explicit RowDigests(const Adjacency& graph);
  void apply(const Updates& updates, const ArcUpdate& update, bool inserts);
};

// Returns the term of one target in the digest.
SIMT_HOST_FN std::uint64_t digest_of(std::uint32_t target) { return mix64(std::uint64_t{target} + 1); }

}  // namespace allocbench::graph
