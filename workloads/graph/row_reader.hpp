// RowReader reads the arrays of all vertices back, untimed, and compares them with a graph.
#pragma once

#include "simt/simt.hpp"
#include "workloads/graph/adjacency.hpp"

namespace allocbench::graph {

class RowReader {
 public:
  RowReader(simt::Stream& stream, Adjacency expected);

  // Copies the rows as they are now. `blocks` and `degrees` lie in device memory and have one entry per vertex. If a
  // row is longer than expected, only the expected part is read.
  void read(void* const* blocks, const std::uint32_t* degrees);

  // Returns the first mistake in the rows that were read, or an empty text.
  std::string problem() const;

 private:
  simt::Stream& stream_;
  Adjacency expected_;
  simt::Buffer<std::uint32_t> first_;
  simt::Buffer<std::uint32_t> degrees_;
  simt::Buffer<std::uint32_t> targets_;
};

}  // namespace allocbench::graph
