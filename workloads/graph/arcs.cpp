#include "workloads/graph/arcs.hpp"

#include <algorithm>
#include <boost/sort/spreadsort/integer_sort.hpp>

#include "workloads/support/random/random.hpp"

namespace allocbench::graph {

void sort_unique(std::vector<Arc>& arcs) {
  const auto word = [](const Arc& arc) { return std::uint64_t{arc.source} << 32 | arc.target; };
  boost::sort::spreadsort::integer_sort(
      arcs.begin(), arcs.end(), [&](const Arc& arc, unsigned bits) { return word(arc) >> bits; },
      [&](const Arc& a, const Arc& b) { return word(a) < word(b); });
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
}

std::vector<Arc> arcs_of(const Adjacency& graph) {
  std::vector<Arc> arcs;
  arcs.reserve(graph.targets.size());
  for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at) {
      arcs.push_back({vertex, graph.targets[at]});
    }
  }
  return arcs;
}

Window Window::of_batch(std::uint32_t width, std::uint32_t batch, std::uint32_t vertices) {
  if (width == 0) return {0, vertices, vertices};
  return {static_cast<std::uint32_t>(std::uint64_t{batch} * width % vertices), std::min(width, vertices), vertices};
}

void append(UpdateBatches& batches, const std::vector<Arc>& arcs) {
  for (std::size_t arc = 0; arc < arcs.size(); ++arc) {
    if (arc == 0 || arcs[arc].source != arcs[arc - 1].source) {
      batches.vertices.push_back(arcs[arc].source);
      batches.first.push_back(batches.first.back());
    }
    batches.targets.push_back(arcs[arc].target);
    ++batches.first.back();
  }
  batches.first_entry.push_back(static_cast<std::uint32_t>(batches.vertices.size()));
}

std::vector<Arc> draw_arcs(const Window& window, std::uint32_t count, std::uint64_t seed, std::uint32_t batch) {
  std::vector<Arc> arcs;
  arcs.reserve(count);
  for (std::uint32_t draw = 0; draw < count; ++draw) {
    const RandomWords random = random_words(seed, RandomStream::graph_updates, batch, draw);
    const std::uint64_t source = std::uint64_t{window.first} + scale_to(random.words[0], window.count);
    arcs.push_back({static_cast<std::uint32_t>(source % window.vertices), scale_to(random.words[1], window.vertices)});
  }
  return arcs;
}

}  // namespace allocbench::graph
