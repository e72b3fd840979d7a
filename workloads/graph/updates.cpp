#include "workloads/graph/updates.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "workloads/graph/arcs.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench::graph {
namespace {

// The present arcs of a graph to which updates add arcs and from which they remove arcs.
class PresentArcs {
 public:
  explicit PresentArcs(const Adjacency& start) : start_(start), arcs_(arcs_of(start)) {}

  bool has(const Arc& arc) const {
    return start_.has(arc) != std::binary_search(changed_.begin(), changed_.end(), arc_word(arc.source, arc.target));
  }

  void insert(const std::vector<Arc>& arcs) {
    change(arcs);
    arcs_.insert(arcs_.end(), arcs.begin(), arcs.end());
  }

  // Removes up to `count` arcs whose sources are in the window, and returns them.
  std::vector<Arc> take(std::uint32_t count, const Window& window, std::uint64_t seed, std::uint32_t batch) {
    const std::size_t first = window.is_all() ? 0 : inside_to_the_end(window);
    auto left = static_cast<std::uint32_t>(arcs_.size() - first);
    std::vector<Arc> taken;
    taken.reserve(std::min(count, left));
    for (std::uint32_t draw = 0; draw < count && left != 0; ++draw, --left) {
      const std::uint32_t word = random_words(seed, RandomStream::graph_updates, batch, draw).words[2];
      std::swap(arcs_[first + scale_to(word, left)], arcs_.back());
      taken.push_back(arcs_.back());
      arcs_.pop_back();
    }
    change(taken);
    return taken;
  }

  Adjacency rows() const {
    Adjacency graph = adjacency_of(arcs_, false);
    graph.first.resize(start_.first.size(), graph.first.back());  // the last vertices may have no arcs
    return graph;
  }

 private:
  // Moves the arcs of the window behind all other arcs, and returns the index of the first moved arc.
  std::size_t inside_to_the_end(const Window& window) {
    const auto middle =
        std::stable_partition(arcs_.begin(), arcs_.end(), [&](const Arc& arc) { return !window.has(arc.source); });
    return static_cast<std::size_t>(middle - arcs_.begin());
  }

  void change(const std::vector<Arc>& arcs) {
    std::vector<std::uint64_t> words(arcs.size());
    std::transform(arcs.begin(), arcs.end(), words.begin(),
                   [](const Arc& arc) { return arc_word(arc.source, arc.target); });
    std::sort(words.begin(), words.end());
    std::vector<std::uint64_t> changed;
    changed.reserve(changed_.size() + words.size());
    std::set_symmetric_difference(changed_.begin(), changed_.end(), words.begin(), words.end(),
                                  std::back_inserter(changed));
    changed_ = std::move(changed);
  }

  const Adjacency& start_;
  std::vector<Arc> arcs_;
  std::vector<std::uint64_t> changed_;  // sorted arcs that only one of the start and the present has
};

// Makes updates that delete the arcs of each batch after their insertion, so every batch changes the same graph.
void delete_inserted(const Adjacency& graph, const UpdateOptions& options, std::uint64_t seed, Updates& result) {
  result.lists = draw_batches(graph, options.batches, options.arcs, options.window, seed);
  for (std::uint32_t batch = 0; batch < options.batches; ++batch) {
    const BatchMoves moves = result.lists.moves(graph, batch);
    const ArcUpdate update{result.lists.first_entry[batch], result.lists.first_entry[batch + 1], moves.count};
    result.updates.insert(result.updates.end(), {update, update});
    result.bytes += moves.bytes;
    result.largest = std::max(result.largest, moves.largest);
  }
  result.final = graph;
  if (options.batches != 0) result.inserted = result.lists.inserted_into(graph, options.batches - 1);
}

// Appends the inserted or deleted arcs, and counts the arrays whose size changes, according to the current degrees.
void append_update(std::vector<Arc> arcs, bool inserts, std::vector<std::uint32_t>& degrees, Updates& result) {
  sort_unique(arcs);
  append(result.lists, arcs);
  const std::vector<std::uint32_t>& entries = result.lists.first_entry;
  ArcUpdate update{entries[entries.size() - 2], entries.back(), 0};
  for (std::uint32_t entry = update.begin; entry < update.end; ++entry) {
    std::uint32_t& degree = degrees[result.lists.vertices[entry]];
    const std::uint64_t before = array_bytes(degree);
    const std::uint32_t count = result.lists.first[entry + 1] - result.lists.first[entry];
    degree = inserts ? degree + count : degree - count;
    const std::uint64_t after = array_bytes(degree);
    if (before == after) continue;
    ++update.moves;
    result.bytes += after;
    result.largest = std::max(result.largest, after);
  }
  result.updates.push_back(update);
}

void delete_present(const Adjacency& graph, const UpdateOptions& options, std::uint64_t seed, Updates& result) {
  PresentArcs present(graph);
  std::vector<std::uint32_t> degrees;
  for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) degrees.push_back(graph.degree(vertex));
  for (std::uint32_t batch = 0; batch < options.batches; ++batch) {
    const Window window = Window::of_batch(options.window, batch, graph.vertices());
    std::vector<Arc> arcs = draw_arcs(window, options.arcs, seed, batch);
    std::erase_if(arcs, [&](const Arc& arc) { return present.has(arc); });
    sort_unique(arcs);
    present.insert(arcs);
    append_update(std::move(arcs), true, degrees, result);
    if (batch + 1 == options.batches) result.inserted = present.rows();
    append_update(present.take(options.arcs, window, seed, batch), false, degrees, result);
  }
  result.final = present.rows();
}

}  // namespace

Updates draw_updates(const Adjacency& graph, const UpdateOptions& options, std::uint64_t seed) {
  Updates result;
  if (options.deletes == Deletes::inserted) {
    delete_inserted(graph, options, seed, result);
  } else if (const std::uint64_t arcs = 2 * std::uint64_t{options.batches} * options.arcs; arcs > 1u << 28) {
    throw std::invalid_argument("all batches together insert and delete " + std::to_string(arcs) +
                                " arcs; at most 2^28 are supported");
  } else {
    delete_present(graph, options, seed, result);
  }
  return result;
}

std::vector<std::uint64_t> drawn_words(std::uint32_t vertices, const UpdateOptions& options, std::uint64_t seed) {
  std::vector<std::uint64_t> words;
  for (std::uint32_t batch = 0; batch < options.batches; ++batch) {
    const Window window = Window::of_batch(options.window, batch, vertices);
    for (const Arc& arc : draw_arcs(window, options.arcs, seed, batch)) {
      words.push_back(arc_word(arc.source, arc.target));
    }
  }
  return words;
}

RowDigests::RowDigests(const Adjacency& graph) : digests(graph.vertices()), degrees(graph.vertices()) {
  for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
    degrees[vertex] = graph.degree(vertex);
    for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at) {
      digests[vertex] += digest_of(graph.targets[at]);
    }
  }
}

void RowDigests::apply(const Updates& updates, const ArcUpdate& update, bool inserts) {
  for (std::uint32_t entry = update.begin; entry < update.end; ++entry) {
    const std::uint32_t vertex = updates.lists.vertices[entry];
    for (std::uint32_t at = updates.lists.first[entry]; at < updates.lists.first[entry + 1]; ++at) {
      const std::uint64_t term = digest_of(updates.lists.targets[at]);
      digests[vertex] = inserts ? digests[vertex] + term : digests[vertex] - term;
      degrees[vertex] = inserts ? degrees[vertex] + 1 : degrees[vertex] - 1;
    }
  }
}

}  // namespace allocbench::graph
