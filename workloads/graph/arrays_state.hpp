// ArraysState is the state of graph_arrays apart from its kernels: the graph and the batches on host and device, the
// arrays, and their check.
#pragma once

#include <memory>
#include <optional>

#include "workloads/graph/arrays_kernels.hpp"
#include "workloads/graph/graph_arrays.hpp"
#include "workloads/graph/row_reader.hpp"
#include "workloads/graph/update_checks.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench::graph {

// The arguments of one launch of the kernel.
struct BatchLaunch {
  Geometry geometry;
  Batch batch;
  std::uint64_t operations;  // mallocs and frees
};

class ArraysState {
 public:
  // Throws std::invalid_argument for graphs that cannot be read, and for settings with too many arcs or vertices.
  ArraysState(simt::Stream& stream, const GraphArrays::Parameters& parameters, std::uint64_t seed);

  const Adjacency& start() const { return start_; }
  std::uint32_t batches() const { return updates_.batches(); }
  Geometry vertices() const { return geometry(start_.vertices(), 1); }
  BatchLaunch all_vertices() const;
  BatchLaunch insertion(std::uint32_t batch) const { return launch(updates_.updates[2 * batch]); }
  BatchLaunch deletion(std::uint32_t batch) const { return launch(updates_.updates[2 * batch + 1]); }

  // Returns the number of mallocs in a whole sample. The sample frees as many blocks.
  std::uint64_t mallocs() const { return mallocs_; }
  std::uint64_t requested_bytes() const { return requested_bytes_; }
  std::uint64_t largest_request() const { return largest_request_; }
  RequestProfile requests() const;

  Arrays arrays() const { return {blocks_.data(), degrees_.data()}; }
  std::uint64_t* failure_counter() const { return failures_.data(); }
  std::uint64_t failures() const { return failures_.to_host(stream_).front(); }

  void prepare();
  bool sorts() const { return sort_.has_value(); }
  void sort(std::uint32_t batch) { sort_->run(batch, arrays()); }
  // Checks the arrays after an insertion, untimed. Every tenth insertion is checked by digests. The last insertion and
  // the final state are compared exactly.
  void check_inserted(std::uint32_t batch) {
    digests_.check(batch, arrays());
    if (batch + 1 == batches()) inserted_->read(blocks_.data(), degrees_.data());
  }
  void read_final() { final_.read(blocks_.data(), degrees_.data()); }
  void check_recorded(PointerCheck& check) const;

 private:
  Geometry geometry(std::uint32_t entries, std::uint32_t lanes) const;
  BatchLaunch launch(const ArcUpdate& update) const;
  void count_requests();

  simt::Stream& stream_;
  GraphArrays::Parameters parameters_;
  std::uint64_t seed_;
  std::shared_ptr<const Adjacency> kept_start_;
  const Adjacency& start_;
  std::shared_ptr<const Updates> kept_updates_;
  const Updates& updates_;
  std::uint64_t mallocs_ = 0;
  std::uint64_t requested_bytes_ = 0;
  std::uint64_t largest_request_ = 0;
  simt::Buffer<std::uint32_t> first_;
  simt::Buffer<std::uint32_t> targets_;
  simt::Buffer<std::uint32_t> batch_vertices_;
  simt::Buffer<std::uint32_t> batch_first_;
  simt::Buffer<std::uint32_t> batch_targets_;
  RecordedPointers blocks_;
  simt::Buffer<std::uint32_t> final_bytes_;  // bytes of each array at the end
  simt::Buffer<std::uint32_t> degrees_;
  simt::Buffer<std::uint64_t> failures_;
  DigestChecks digests_;
  std::optional<BatchSort> sort_;
  std::optional<RowReader> inserted_;  // rows after the last insertion; empty without batches
  RowReader final_;
};

}  // namespace allocbench::graph
