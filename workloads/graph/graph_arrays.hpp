// graph_arrays sets up a graph whose vertices keep their arcs in dynamic arrays, and then updates it in batches.
//
// Paper: Winter et al., PPoPP'21, graph tests.
//
// Set-up: Every vertex allocates an array and copies its arcs into it. The array's size is the bytes of the arcs,
// rounded up to a power of two and at least 16.
//
// Updates: Each of `batches` batches inserts random arcs and then deletes the same arcs or any arcs of the graph
// (`deletes`). If an array changes its size, its vertex allocates, copies and frees (graph/arrays_kernels.hpp). The
// host sorts the batches in advance and removes arcs that the graph already has, so all allocators do the same work.
// With `sort` the device also sorts each batch and marks its new arcs, in a timed phase of its own. The times of Winter
// et al. do not include this work.
//
// Check: The arrays are compared exactly with the graph after the last insertion and after the last deletion. After
// every tenth insertion, only digests are compared.
//
// Phases: Each of the phases `sort`, `insert` and `delete` covers all batches of a sample. When memory runs out, no
// further batch runs.
#pragma once

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct GraphArrays {
  struct Parameters {
    std::string graph = "rmat";
    bool symmetric = false;
    std::uint32_t vertices = 65536;
    std::uint32_t arcs = 1 << 20;
    std::uint32_t batches = 0;
    std::uint32_t batch_arcs = 10'000;
    std::uint32_t window = 0;
    std::string deletes = "inserted";
    bool sort = false;
    std::uint32_t lanes_per_vertex = 1;
    std::uint32_t threads_per_block = 256;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"graph", &P::graph, "", "edge list data/graphs/<graph>.txt.gz, or generated: rmat, geometric",
                "Winter et al., PPoPP'21: 13 graphs, most from the 10th DIMACS challenge"},
          Field{"symmetric", &P::symmetric, "", "add the reverse of every arc: for lists of undirected edges",
                "assumed"},
          Field{"vertices", &P::vertices, "vertices", "of a generated graph", "assumed"}.between(2, 1u << 24),
          Field{"arcs", &P::arcs, "arcs", "arcs drawn (graph = rmat); repeated ones are left out", "assumed"}.between(
              1, 1 << 26),
          Field{"batches", &P::batches, "batches",
                "batches inserted, each followed by one that is deleted; 0: set-up alone",
                "Winter et al., PPoPP'21: 100"}
              .between(0, 10'000),
          Field{"batch_arcs", &P::batch_arcs, "arcs", "arcs of a batch", "Winter et al., PPoPP'21"}.between(1, 1 << 24),
          Field{"window", &P::window, "vertices",
                "sources of a batch have ids in a window of this width, which moves on with each batch; 0: any id",
                "Winter et al., PPoPP'21: 0 and 100"}
              .between(0, 1u << 28),
          Field{"deletes", &P::deletes, "",
                "arcs deleted after each batch: those inserted last, or as many random arcs of the graph",
                "Winter et al., PPoPP'21: inserted; assumed: present"}
              .one_of({"inserted", "present"}),
          Field{"sort", &P::sort, "", "also time sorting each batch and marking the arcs that are new",
                "Winter et al., PPoPP'21: part of its time"},
          Field{"lanes_per_vertex", &P::lanes_per_vertex, "lanes", "lanes that share a vertex: one calls, all copy",
                "Winter et al., PPoPP'21: 1"}
              .between(1, simt::warp_size)
              .powers_of_two(),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block", "Winter et al., PPoPP'21"}
              .between(simt::warp_size, most_threads_per_block)};
    }
  };

  static constexpr WorkloadTraits traits{
      .name = "graph_arrays",
      .display_name = "Graph of Dynamic Arrays",
      .paper = "Winter et al., PPoPP'21, graph tests",
      .summary = "vertices keep their arcs in arrays that grow and shrink with batches of updates",
      .phases = "init sort insert delete free",
      .writes_blocks = true,
      .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
