#include "workloads/graph/arrays_state.hpp"

#include <algorithm>
#include <stdexcept>

#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/inputs/kept_input.hpp"

namespace allocbench::graph {
namespace {

std::vector<Arc> edge_list(const GraphArrays::Parameters& p, std::uint64_t seed) {
  if (p.graph == "rmat") return generate_edge_list(p.vertices, p.arcs, seed);
  if (p.graph == "geometric") return generate_geometric(p.vertices, seed);
  return read_edge_list(p.graph);
}

UpdateOptions update_options(const GraphArrays::Parameters& p) {
  return {p.batches, p.batch_arcs, p.window, p.deletes == "present" ? Deletes::present : Deletes::inserted};
}

std::string key_of(const std::string& what, const GraphArrays::Parameters& p, std::uint64_t seed) {
  return what + ' ' + p.graph + ' ' + std::to_string(p.vertices) + ' ' + std::to_string(p.arcs) +
         (p.symmetric ? " both ways, seed " : ", seed ") + std::to_string(seed);
}

std::shared_ptr<const Adjacency> start_of(const GraphArrays::Parameters& p, std::uint64_t seed) {
  return kept_input<Adjacency>(key_of("graph", p, seed), [&] { return adjacency_of(edge_list(p, seed), p.symmetric); });
}

std::shared_ptr<const Updates> updates_of(const Adjacency& start, const GraphArrays::Parameters& p,
                                          std::uint64_t seed) {
  const std::string key = key_of("updates of graph", p, seed) + ": " + std::to_string(p.batches) + " of " +
                          std::to_string(p.batch_arcs) + " among " + std::to_string(p.window) + ", deletes " +
                          p.deletes;
  return kept_input<Updates>(key, [&] { return draw_updates(start, update_options(p), seed); });
}

}  // namespace

ArraysState::ArraysState(simt::Stream& stream, const GraphArrays::Parameters& parameters, std::uint64_t seed)
    : stream_(stream),
      parameters_(parameters),
      seed_(seed),
      kept_start_(start_of(parameters, seed)),
      start_(*kept_start_),
      kept_updates_(updates_of(start_, parameters, seed)),
      updates_(*kept_updates_),
      first_(start_.first.size()),
      targets_(start_.targets.size()),
      batch_vertices_(updates_.lists.vertices.size()),
      batch_first_(updates_.lists.first.size()),
      batch_targets_(updates_.lists.targets.size()),
      blocks_(stream, start_.vertices()),
      final_bytes_(start_.vertices()),
      degrees_(start_.vertices()),
      failures_(1),
      digests_(stream, start_, updates_),
      final_(stream, updates_.final) {
  if (start_.vertices() > (1u << 31) / parameters.lanes_per_vertex) {
    throw std::invalid_argument(std::to_string(start_.vertices()) + " vertices with " +
                                std::to_string(parameters.lanes_per_vertex) +
                                " lanes each; a grid has 2^31 threads at most");
  }
  count_requests();
  first_.from_host(stream, start_.first);
  targets_.from_host(stream, start_.targets);
  batch_vertices_.from_host(stream, updates_.lists.vertices);
  batch_first_.from_host(stream, updates_.lists.first);
  batch_targets_.from_host(stream, updates_.lists.targets);
  std::vector<std::uint32_t> final_bytes;
  for (std::uint32_t vertex = 0; vertex < start_.vertices(); ++vertex) {
    final_bytes.push_back(static_cast<std::uint32_t>(array_bytes(updates_.final.degree(vertex))));
  }
  final_bytes_.from_host(stream, final_bytes);
  if (batches() == 0) return;
  inserted_.emplace(stream, updates_.inserted);
  if (parameters.sort) {
    sort_.emplace(stream, updates_, drawn_words(start_.vertices(), update_options(parameters), seed));
  }
}

void ArraysState::count_requests() {
  mallocs_ = start_.vertices();
  for (std::uint32_t vertex = 0; vertex < start_.vertices(); ++vertex) {
    const std::uint64_t bytes = array_bytes(start_.degree(vertex));
    requested_bytes_ += bytes;
    largest_request_ = std::max(largest_request_, bytes);
  }
  for (const ArcUpdate& update : updates_.updates) mallocs_ += update.moves;
  requested_bytes_ += updates_.bytes;
  largest_request_ = std::max(largest_request_, updates_.largest);
}

Geometry ArraysState::geometry(std::uint32_t entries, std::uint32_t lanes) const {
  return Geometry::of_callers(entries * lanes, parameters_.threads_per_block, simt::warp_size);
}

BatchLaunch ArraysState::all_vertices() const {
  return {geometry(start_.vertices(), parameters_.lanes_per_vertex),
          {nullptr, first_.data(), targets_.data()},
          start_.vertices()};
}

BatchLaunch ArraysState::launch(const ArcUpdate& update) const {
  return {geometry(update.end - update.begin, parameters_.lanes_per_vertex),
          {batch_vertices_.data() + update.begin, batch_first_.data() + update.begin, batch_targets_.data()},
          2 * std::uint64_t{update.moves}};
}

RequestProfile ArraysState::requests() const {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = 16; bytes <= largest_request_; bytes *= 2) sizes.push_back(bytes);
  std::vector<std::uint64_t> arrays(sizes.size());
  for (std::uint32_t vertex = 0; vertex < start_.vertices(); ++vertex) {
    ++arrays[simt::count_trailing_zeros(array_bytes(start_.degree(vertex)) / 16)];
  }
  return {vertices(), RequestSizes::list(sizes, arrays, start_.vertices(), seed_)};
}

void ArraysState::prepare() {
  blocks_.poison();
  degrees_.fill_bytes(stream_, 0);
  failures_.fill_bytes(stream_, 0);
  digests_.prepare();
  if (sort_) sort_->prepare();
}

// A failed request of the set-up left a null in its slot. A failed request of a batch left the old array in the slot,
// so this function adds a null. No later batch ran, so only the smallest size of an array is certain.
void ArraysState::check_recorded(PointerCheck& check) const {
  if (const std::uint64_t failed = failures(); failed != 0) {
    std::vector<RecordedBlock> blocks = blocks_.blocks([&](std::size_t) { return array_bytes(0); });
    const auto nulls = static_cast<std::uint64_t>(
        std::count_if(blocks.begin(), blocks.end(), [](const RecordedBlock& block) { return block.address == 0; }));
    for (std::uint64_t more = nulls; more < failed; ++more) blocks.push_back({0, 0, blocks.size()});
    check.check(blocks, PointerCheck::Live::together);
    return;
  }
  blocks_.check(
      check, {.array = final_bytes_.data()},
      [&](std::size_t vertex) { return array_bytes(updates_.final.degree(static_cast<std::uint32_t>(vertex))); },
      PointerCheck::Live::together);
  if (!check.ok()) return;
  if (sort_) fail_if_wrong("sorting of batches", sort_->problem());
  fail_if_wrong("graph", digests_.problem());
  if (inserted_) fail_if_wrong("graph after the last insertion", inserted_->problem());
  fail_if_wrong("graph at the end", final_.problem());
}

}  // namespace allocbench::graph
