#include "workloads/graph/arrays_state.hpp"

#include <algorithm>
#include <stdexcept>

#include "workloads/contract/outcome.hpp"

namespace allocbench::graph {
namespace {

std::vector<Arc> edge_list(const GraphArrays::Parameters& p, std::uint64_t seed) {
  if (p.graph == "rmat") return generate_edge_list(p.vertices, p.arcs, seed);
  if (p.graph == "geometric") return generate_geometric(p.vertices, seed);
  return read_edge_list(p.graph);
}

}  // namespace

ArraysState::ArraysState(simt::Stream& stream, const GraphArrays::Parameters& parameters, std::uint64_t seed)
    : stream_(stream),
      parameters_(parameters),
      seed_(seed),
      start_(adjacency_of(edge_list(parameters, seed), parameters.symmetric)),
      batches_(draw_batches(start_, parameters.batches, parameters.batch_arcs, parameters.window, seed)),
      first_(start_.first.size()),
      targets_(start_.targets.size()),
      batch_vertices_(batches_.vertices.size()),
      batch_first_(batches_.first.size()),
      batch_targets_(batches_.targets.size()),
      blocks_(stream, start_.vertices()),
      degrees_(start_.vertices()),
      failures_(1),
      final_(stream, start_) {
  if (start_.vertices() > (1u << 31) / parameters.lanes_per_vertex) {
    throw std::invalid_argument(std::to_string(start_.vertices()) + " vertices with " +
                                std::to_string(parameters.lanes_per_vertex) +
                                " lanes each; a grid has 2^31 threads at most");
  }
  count_requests();
  first_.from_host(stream, start_.first);
  targets_.from_host(stream, start_.targets);
  batch_vertices_.from_host(stream, batches_.vertices);
  batch_first_.from_host(stream, batches_.first);
  batch_targets_.from_host(stream, batches_.targets);
  if (batches() != 0) inserted_.emplace(stream, batches_.inserted_into(start_, batches() - 1));
}

void ArraysState::count_requests() {
  mallocs_ = start_.vertices();
  for (std::uint32_t vertex = 0; vertex < start_.vertices(); ++vertex) {
    const std::uint64_t bytes = array_bytes(start_.degree(vertex));
    requested_bytes_ += bytes;
    largest_request_ = std::max(largest_request_, bytes);
  }
  for (std::uint32_t batch = 0; batch < batches(); ++batch) {
    const BatchMoves moves = batches_.moves(start_, batch);
    moves_.push_back(moves.count);
    mallocs_ += 2 * std::uint64_t{moves.count};
    requested_bytes_ += moves.bytes;
    largest_request_ = std::max(largest_request_, moves.largest);
  }
}

Geometry ArraysState::geometry(std::uint32_t entries, std::uint32_t lanes) const {
  return Geometry::of_callers(entries * lanes, parameters_.threads_per_block, simt::warp_size);
}

BatchLaunch ArraysState::all_vertices() const {
  return {geometry(start_.vertices(), parameters_.lanes_per_vertex),
          {nullptr, first_.data(), targets_.data()},
          start_.vertices()};
}

BatchLaunch ArraysState::batch(std::uint32_t index) const {
  const std::uint32_t entry = batches_.first_entry[index];
  return {geometry(batches_.first_entry[index + 1] - entry, parameters_.lanes_per_vertex),
          {batch_vertices_.data() + entry, batch_first_.data() + entry, batch_targets_.data()},
          2 * std::uint64_t{moves_[index]}};
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
}

// A failed request of the set-up left a null in its slot; a failed one of a batch left the old array there, and is
// reported as one more block, of unknown size.
void ArraysState::check_recorded(PointerCheck& check) const {
  std::vector<RecordedBlock> blocks = blocks_.blocks(
      [&](std::size_t vertex) { return array_bytes(start_.degree(static_cast<std::uint32_t>(vertex))); });
  const auto nulls = static_cast<std::uint64_t>(
      std::count_if(blocks.begin(), blocks.end(), [](const RecordedBlock& block) { return block.address == 0; }));
  const std::uint64_t failed = failures();
  for (std::uint64_t more = nulls; more < failed; ++more) blocks.push_back({0, 0, blocks.size()});
  check.check(blocks, PointerCheck::Live::together);
  if (!check.ok() || failed != 0) return;
  if (inserted_) fail_if_wrong("graph after the last insertion", inserted_->problem());
  fail_if_wrong("graph at the end", final_.problem());
}

}  // namespace allocbench::graph
