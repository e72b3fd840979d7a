// What graph_arrays has besides its kernels: parameters, graph and batches on both sides, the arrays, and the verdict
// on them. It knows no allocator and is compiled once.
#pragma once

#include <optional>
#include <tuple>

#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/requirements.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/graph/array_update.hpp"
#include "workloads/graph/row_reader.hpp"

namespace allocbench::graph {

struct ArraysParameters {
  std::string graph = "rmat";
  bool symmetric = false;
  std::uint32_t vertices = 65536;
  std::uint32_t arcs = 1 << 20;
  std::uint32_t batches = 0;
  std::uint32_t batch_arcs = 10'000;
  std::uint32_t window = 0;
  std::uint32_t lanes_per_vertex = 1;
  std::uint32_t threads_per_block = 256;

  static auto fields() {
    using P = ArraysParameters;
    return std::tuple{
        Field{"graph", &P::graph, "", "edge list data/graphs/<graph>.txt.gz, or generated: rmat, geometric",
              "Winter et al., PPoPP'21: 13 graphs, most from the 10th DIMACS challenge"},
        Field{"symmetric", &P::symmetric, "", "add the reverse of every arc: for lists of undirected edges", "assumed"},
        Field{"vertices", &P::vertices, "vertices", "of a generated graph", "assumed"}.between(2, 1u << 24),
        Field{"arcs", &P::arcs, "arcs", "arcs drawn (graph = rmat); repeated ones are left out", "assumed"}.between(
            1, 1 << 26),
        Field{"batches", &P::batches, "batches", "batches inserted and deleted again; 0: set-up alone",
              "Winter et al., PPoPP'21: 100"}
            .between(0, 10'000),
        Field{"batch_arcs", &P::batch_arcs, "arcs", "arcs of a batch", "Winter et al., PPoPP'21"}.between(1, 1 << 24),
        Field{"window", &P::window, "vertices",
              "sources of a batch are among so many neighbours by id, the next ones for the next batch; 0: among all",
              "Winter et al., PPoPP'21: 0 and 100"}
            .between(0, 1u << 28),
        Field{"lanes_per_vertex", &P::lanes_per_vertex, "lanes", "lanes that share a vertex: one calls, all copy",
              "Winter et al., PPoPP'21: 1"}
            .between(1, simt::warp_size)
            .powers_of_two(),
        Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block", "Winter et al., PPoPP'21"}
            .between(simt::warp_size, most_threads_per_block)};
  }
};

// One launch of the kernel.
struct BatchLaunch {
  Geometry geometry;
  Batch batch;
  std::uint64_t operations;  // mallocs and frees
};

class ArraysState {
 public:
  // Throws std::invalid_argument for graphs that cannot be read, and for settings too large to number.
  ArraysState(simt::Stream& stream, const ArraysParameters& parameters, std::uint64_t seed);

  const Adjacency& start() const { return start_; }
  std::uint32_t batches() const { return batches_.batches(); }
  Geometry vertices() const { return geometry(start_.vertices(), 1); }
  BatchLaunch all_vertices() const;
  BatchLaunch batch(std::uint32_t index) const;

  // Of a whole sample; as many blocks are freed.
  std::uint64_t mallocs() const { return mallocs_; }
  std::uint64_t requested_bytes() const { return requested_bytes_; }
  std::uint64_t largest_request() const { return largest_request_; }
  RequestProfile requests() const;

  Arrays arrays() const { return {blocks_.data(), degrees_.data()}; }
  std::uint64_t* failure_counter() const { return failures_.data(); }
  std::uint64_t failures() const { return failures_.to_host(stream_).front(); }

  void prepare();
  // Keeps a copy of the arrays for the check: after the last insertion, and at the end.
  void read_inserted() { inserted_->read(blocks_.data(), degrees_.data()); }
  void read_final() { final_.read(blocks_.data(), degrees_.data()); }
  void check_recorded(PointerCheck& check) const;

 private:
  Geometry geometry(std::uint32_t entries, std::uint32_t lanes) const;
  void count_requests();

  simt::Stream& stream_;
  ArraysParameters parameters_;
  std::uint64_t seed_;
  Adjacency start_;
  UpdateBatches batches_;
  std::vector<std::uint32_t> moves_;  // by batch
  std::uint64_t mallocs_ = 0;
  std::uint64_t requested_bytes_ = 0;
  std::uint64_t largest_request_ = 0;
  simt::Buffer<std::uint32_t> first_;
  simt::Buffer<std::uint32_t> targets_;
  simt::Buffer<std::uint32_t> batch_vertices_;
  simt::Buffer<std::uint32_t> batch_first_;
  simt::Buffer<std::uint32_t> batch_targets_;
  RecordedPointers blocks_;
  simt::Buffer<std::uint32_t> degrees_;
  simt::Buffer<std::uint64_t> failures_;
  std::optional<RowReader> inserted_;  // where there are batches
  RowReader final_;
};

}  // namespace allocbench::graph
