#include "workloads/graph/adjacency.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "workloads/graph/arcs.hpp"
#include "workloads/support/parallel/parallel_for.hpp"

namespace allocbench::graph {
namespace {

constexpr std::uint64_t most_arcs = 1u << 28;
constexpr std::size_t rows_of_a_thread = 1 << 11;  // fewest rows that a thread gets

}  // namespace

bool Adjacency::has(const Arc& arc) const {
  return std::binary_search(targets.begin() + first[arc.source], targets.begin() + first[arc.source + 1], arc.target);
}

Adjacency adjacency_of(std::vector<Arc> arcs, bool symmetric) {
  std::uint32_t largest = 0;
  for (const Arc& arc : arcs) largest = std::max({largest, arc.source, arc.target});
  if (largest >= most_arcs || arcs.size() > most_arcs / 2) {
    throw std::invalid_argument("the graph has " + std::to_string(arcs.size()) + " arcs and ids up to " +
                                std::to_string(largest) + "; at most 2^27 arcs and 2^28 vertices are supported");
  }
  if (symmetric) {
    const std::size_t edges = arcs.size();
    arcs.reserve(2 * edges);
    for (std::size_t edge = 0; edge < edges; ++edge) arcs.push_back({arcs[edge].target, arcs[edge].source});
  }
  sort_unique(arcs);
  Adjacency graph;
  graph.first.assign(largest + 2, 0);
  graph.targets.reserve(arcs.size());
  for (const Arc& arc : arcs) {
    ++graph.first[arc.source + 1];
    graph.targets.push_back(arc.target);
  }
  for (std::uint32_t vertex = 0; vertex <= largest; ++vertex) graph.first[vertex + 1] += graph.first[vertex];
  return graph;
}

BatchMoves UpdateBatches::moves(const Adjacency& graph, std::uint32_t batch) const {
  BatchMoves moves;
  for (std::uint32_t entry = first_entry[batch]; entry < first_entry[batch + 1]; ++entry) {
    const std::uint32_t degree = graph.degree(vertices[entry]);
    const std::uint64_t before = array_bytes(degree);
    const std::uint64_t after = array_bytes(degree + first[entry + 1] - first[entry]);
    if (before == after) continue;
    ++moves.count;
    moves.bytes += before + after;
    moves.largest = std::max(moves.largest, after);
  }
  return moves;
}

Adjacency UpdateBatches::inserted_into(const Adjacency& graph, std::uint32_t batch) const {
  std::vector<Arc> arcs = arcs_of(graph);
  for (std::uint32_t entry = first_entry[batch]; entry < first_entry[batch + 1]; ++entry) {
    for (std::uint32_t at = first[entry]; at < first[entry + 1]; ++at) arcs.push_back({vertices[entry], targets[at]});
  }
  Adjacency result = adjacency_of(std::move(arcs), false);
  result.first.resize(graph.first.size(), result.first.back());  // the last vertices may have no arcs
  return result;
}

UpdateBatches draw_batches(const Adjacency& graph, std::uint32_t batches, std::uint32_t size, std::uint32_t window,
                           std::uint64_t seed) {
  if (std::uint64_t{batches} * size > most_arcs) {
    throw std::invalid_argument("all batches together have " + std::to_string(std::uint64_t{batches} * size) +
                                " arcs; at most 2^28 are supported");
  }
  UpdateBatches result;
  for (std::uint32_t batch = 0; batch < batches; ++batch) {
    std::vector<Arc> arcs = draw_arcs(Window::of_batch(window, batch, graph.vertices()), size, seed, batch);
    std::erase_if(arcs, [&](const Arc& arc) { return graph.has(arc); });
    sort_unique(arcs);
    append(result, arcs);
  }
  return result;
}

namespace {

// Returns the first wrong row of `begin` to `end` - 1, or `end` if all rows are right.
std::size_t first_wrong_row(const Adjacency& expected, const std::vector<std::uint32_t>& degrees,
                            const std::vector<std::uint32_t>& targets, std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> row;
  for (std::size_t vertex = begin; vertex < end; ++vertex) {
    const std::uint32_t first = expected.first[vertex];
    const std::uint32_t last = expected.first[vertex + 1];
    if (degrees[vertex] != last - first) return vertex;
    row.assign(targets.begin() + first, targets.begin() + last);
    std::sort(row.begin(), row.end());
    if (!std::equal(row.begin(), row.end(), expected.targets.begin() + first)) return vertex;
  }
  return end;
}

}  // namespace

std::string rows_problem(const Adjacency& expected, const std::vector<std::uint32_t>& degrees,
                         const std::vector<std::uint32_t>& targets) {
  std::mutex together;
  std::size_t first_wrong = expected.vertices();
  parallel_for(
      expected.vertices(),
      [&](std::size_t begin, std::size_t end) {
        const std::size_t wrong = first_wrong_row(expected, degrees, targets, begin, end);
        const std::lock_guard lock(together);
        if (wrong != end) first_wrong = std::min(first_wrong, wrong);
      },
      rows_of_a_thread);
  if (first_wrong == expected.vertices()) return {};
  const auto vertex = static_cast<std::uint32_t>(first_wrong);
  const std::uint32_t degree = expected.degree(vertex);
  if (degrees[vertex] != degree) {
    return "vertex " + std::to_string(vertex) + " has " + std::to_string(degrees[vertex]) + " arcs instead of " +
           std::to_string(degree);
  }
  return "the array of vertex " + std::to_string(vertex) + " does not hold its " + std::to_string(degree) + " arcs";
}

}  // namespace allocbench::graph
