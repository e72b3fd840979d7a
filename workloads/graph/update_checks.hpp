// Work of graph_arrays on updates apart from its kernels: digests of the graph in between, and the sorting of batches,
// which the survey also times.
#pragma once

#include <string>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/graph/arrays_kernels.hpp"
#include "workloads/graph/updates.hpp"
#include "workloads/support/parallel/sort.hpp"

namespace allocbench::graph {

// Compares all rows with the host's expectation after some of the batches. It does so on the device, because an exact
// comparison of every tenth batch would take longer than the batches.
class DigestChecks {
 public:
  // After the insertion of batches 10, 20 and so on.
  static constexpr std::uint32_t interval = 10;

  DigestChecks(simt::Stream& stream, const Adjacency& start, const Updates& updates);

  void prepare();
  // After the insertion of a batch; untimed. Enqueued.
  void check(std::uint32_t batch, Arrays arrays);
  // The mistakes that the checks found. Empty if all rows were correct.
  std::string problem() const;

 private:
  simt::Stream& stream_;
  std::uint32_t vertices_;
  simt::Buffer<std::uint64_t> digests_;  // a row per check
  simt::Buffer<std::uint32_t> degrees_;
  simt::Buffer<std::uint32_t> first_wrong_;  // vertex, by check
};

// Sorts a batch as it was drawn and marks its new arcs: neither repeated nor in the graph.
class BatchSort {
 public:
  // `drawn`: drawn_words() of the same batches.
  BatchSort(simt::Stream& stream, const Updates& updates, const std::vector<std::uint64_t>& drawn);

  void prepare();
  // Enqueued. A phase times this call.
  void run(std::uint32_t batch, Arrays arrays);
  // The mistakes of the batches. Empty if each had as many new arcs as the host counted.
  std::string problem() const;

 private:
  simt::Stream& stream_;
  std::uint32_t arcs_;  // of a batch
  std::vector<std::uint32_t> expected_;
  simt::Buffer<std::uint64_t> drawn_;
  simt::Buffer<std::uint64_t> sorted_;
  simt::Buffer<std::uint32_t> marks_;
  simt::Buffer<std::uint32_t> found_;  // by batch
  std::uint32_t ran_ = 0;
  WordSort sort_;
};

}  // namespace allocbench::graph
