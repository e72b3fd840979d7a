// graph_build turns an unsorted edge list into a directed graph of nodes and edges from the allocator.
//
// Paper: Spliet et al., GPGPU-7 2014, sec. 5.3, fig. 7.
//
// Ids and degrees are not known in advance. The threads take the arcs in turn. For each arc a thread makes sure that
// both nodes exist (32 bytes each) and adds an edge of 16 bytes (graph/node_tree.hpp). If another thread inserts the
// same node first, the thread frees its own node. With `hold` it keeps the node for its next need instead, as with the
// paper's bump heap. When memory runs out, the thread ends and its other arcs are lost; the paper's program retries
// forever. After the build the graph is copied and everything is freed, untimed. Without nulls, the copy is compared
// exactly with the edge list (graph/graph_check.hpp).
//
// With `requests` warp, the leader of a warp requests the memory for one arc of each lane in one block
// (graph::WarpBlocks). In this mode nothing is freed during the build, as in the paper's bump heap.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct GraphBuild {
  struct Parameters : CallerParameters {
    std::string graph = "kma_64k";
    bool shuffle = false;
    std::uint32_t vertices = 16384;
    std::uint32_t arcs = 65536;
    bool hold = false;
    std::string requests = "thread";

    Parameters() {
      threads = 1024;
      threads_per_block = 128;
    }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads that build", "Spliet et al. 2014, fig. 7"),
          std::tuple{
              Field{"graph", &P::graph, "", "edge list data/graphs/<graph>.txt.gz, or generated: R-MAT",
                    "Spliet et al. 2014, sec. 5.3: 64K edges, about 10K nodes"},
              Field{"shuffle", &P::shuffle, "", "arcs in random order: sorted lists make the tree a chain", "assumed"},
              Field{"vertices", &P::vertices, "vertices", "bound of the ids (graph = generated)",
                    "assumed: about 10K of them get an arc"}
                  .between(2, 1u << 31),
              Field{"arcs", &P::arcs, "arcs", "arcs of the graph (graph = generated)", "Spliet et al. 2014, sec. 5.3"}
                  .between(1, 1 << 26),
              Field{"hold", &P::hold, "", "keep an unused node for the next request instead of freeing it",
                    "Spliet et al. 2014, sec. 5.3, of its bump heap"},
              Field{"requests", &P::requests, "",
                    "thread: every node and edge is a request; warp: one request of up to 1,536 B for an arc of each "
                    "lane, unused nodes are kept",
                    "Spliet et al. 2014, sec. 5.3; assumed: warp, as in its fig. 6"}
                  .one_of({"thread", "warp"})});
    }

    bool by_warp() const { return requests == "warp"; }
  };

  static constexpr WorkloadTraits traits{
      .name = "graph_build",
      .display_name = "Edge List to Graph",
      .paper = "Spliet et al. 2014, sec. 5.3",
      .summary = "threads turn an edge list into a tree of nodes with lists of edges",
      .phases = "build",
      .writes_blocks = true,
      .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
