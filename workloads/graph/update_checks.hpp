// DigestChecks compares the arrays of graph_arrays between updates with digests of the graph. BatchSort sorts the
// batches on the device. Winter et al. 2021 include this sort in their times.
#pragma once

#include <string>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/graph/arrays_kernels.hpp"
#include "workloads/graph/updates.hpp"
#include "workloads/support/parallel/sort.hpp"

namespace allocbench::graph {

// Compares all rows with the host's expectation after every tenth insertion. The device compares digests, because an
// exact comparison on the host can take longer than ten batches.
class DigestChecks {
 public:
  // Number of insertions from one check to the next.
  static constexpr std::uint32_t interval = 10;

  DigestChecks(simt::Stream& stream, const Adjacency& start, const Updates& updates);

  void prepare();
  // Enqueues the check after the insertion of every tenth batch. The check is untimed.
  void check(std::uint32_t batch, Arrays arrays);
  // Returns the first mistake that the checks found, or an empty text.
  std::string problem() const;

 private:
  simt::Stream& stream_;
  std::uint32_t vertices_;
  simt::Buffer<std::uint64_t> digests_;  // one row per check
  simt::Buffer<std::uint32_t> degrees_;
  simt::Buffer<std::uint32_t> first_wrong_;  // first wrong vertex of each check
};

// Sorts the drawn arcs of a batch, which still include repeated arcs and arcs of the graph. Then it marks the new arcs:
// the first of equal arcs, if the graph does not have it.
class BatchSort {
 public:
  // `drawn` is drawn_words() of the same batches.
  BatchSort(simt::Stream& stream, const Updates& updates, const std::vector<std::uint64_t>& drawn);

  void prepare();
  // Enqueues the sort. The phase `sort` times this call.
  void run(std::uint32_t batch, Arrays arrays);
  // Returns a message if a batch did not have as many new arcs as the host counted, otherwise an empty text.
  std::string problem() const;

 private:
  simt::Stream& stream_;
  std::uint32_t arcs_;  // arcs per batch
  std::vector<std::uint32_t> expected_;
  simt::Buffer<std::uint64_t> drawn_;
  simt::Buffer<std::uint64_t> sorted_;
  simt::Buffer<std::uint32_t> marks_;
  simt::Buffer<std::uint32_t> found_;  // new arcs found in each batch
  std::uint32_t ran_ = 0;
  WordSort sort_;
};

}  // namespace allocbench::graph
