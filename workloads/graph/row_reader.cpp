#include "workloads/graph/row_reader.hpp"

#include <utility>

#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench::graph {
namespace {

struct ReadRowsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t vertices, void* const* blocks, const std::uint32_t* degrees,
                          const std::uint32_t* first, std::uint32_t* read_degrees, std::uint32_t* read_targets) const {
    for (std::uint32_t vertex = thread.rank_in_grid(); vertex < vertices; vertex += thread.grid_size()) {
      const std::uint32_t expected = first[vertex + 1] - first[vertex];
      const std::uint32_t degree = degrees[vertex];
      read_degrees[vertex] = degree;
      if (!is_block(blocks[vertex])) continue;
      const auto* const row = static_cast<const std::uint32_t*>(blocks[vertex]);
      for (std::uint32_t arc = 0; arc < expected && arc < degree; ++arc) read_targets[first[vertex] + arc] = row[arc];
    }
  }
};

}  // namespace

RowReader::RowReader(simt::Stream& stream, Adjacency expected)
    : stream_(stream),
      expected_(std::move(expected)),
      first_(expected_.first.size()),
      degrees_(expected_.vertices()),
      targets_(expected_.targets.size()) {
  first_.from_host(stream, expected_.first);
}

void RowReader::read(void* const* blocks, const std::uint32_t* degrees) {
  constexpr std::uint32_t threads = 128;
  degrees_.fill_bytes(stream_, 0);
  targets_.fill_bytes(stream_, 0xff);
  const std::uint32_t vertices = expected_.vertices();
  simt::launch(stream_, {.blocks = (vertices + threads - 1) / threads, .threads_per_block = threads}, ReadRowsKernel{},
               vertices, blocks, degrees, static_cast<const std::uint32_t*>(first_.data()), degrees_.data(),
               targets_.data());
}

std::string RowReader::problem() const {
  return rows_problem(expected_, degrees_.to_host(stream_), targets_.to_host(stream_));
}

}  // namespace allocbench::graph
