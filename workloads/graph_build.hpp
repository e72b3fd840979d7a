// graph_build: an unsorted edge list becomes a directed graph of nodes and edges from the allocator.
//
// Spliet et al., GPGPU-7 2014, sec. 5.3, fig. 7. Ids and degrees are not known in advance. A thread takes arc after
// arc, in steps of the number of threads, and for each makes sure that both nodes exist (32 bytes each) and adds an
// edge (16 bytes): graph/node_tree.hpp. A node that loses the race for its place is freed, or, with `hold`, kept for
// the next need as the paper's bump heap does. Where memory runs out, the thread ends and its other arcs are lost; the
// paper's program tries again for ever. The graph is compared with the edge list after every sample, exactly:
// graph/graph_check.hpp. Then everything is freed, untimed.
#pragma once

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/graph/edge_list.hpp"
#include "workloads/graph/graph_check.hpp"
#include "workloads/graph/node_tree.hpp"

namespace allocbench {

// Where the kernels leave what they made: addresses of nodes by key, of edges by arc.
struct GraphSlots {
  void** nodes;
  void** edges;
  std::uint32_t keys;
  std::uint32_t arcs;
};

struct GraphBuildKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, const Arc* arcs, bool hold,
                          std::uint64_t* root, GraphSlots slots, std::uint64_t* frees) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    graph::Builder builder(session, root, hold);
    for (std::uint32_t arc = caller; arc < slots.arcs; arc += geometry.callers) {
      const auto [source_key, target_key] = arcs[arc];
      graph::Edge* edge = nullptr;
      graph::Node* const source = builder.ensure(thread, source_key, slots.nodes);
      if (source != nullptr) {
        graph::Node* const target = builder.ensure(thread, target_key, slots.nodes);
        if (target != nullptr) edge = builder.add_edge(thread, source, target);
      }
      slots.edges[arc] = edge;
      if (edge != nullptr) continue;
      for (arc += geometry.callers; arc < slots.arcs; arc += geometry.callers) slots.edges[arc] = nullptr;
      break;
    }
    builder.drop_spare(thread);
    if (builder.frees() != 0) thread.atomic(*frees).fetch_add(std::uint64_t{builder.frees()}, simt::relaxed);
    detach(session, thread);
  }
};

// Copies out what the blocks hold. Slots without a block stay zero.
struct GraphReadKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, GraphSlots slots, graph::Node* nodes, graph::Edge* edges) const {
    for (std::uint32_t key = thread.rank_in_grid(); key < slots.keys; key += thread.grid_size()) {
      if (is_block(slots.nodes[key])) nodes[key] = *static_cast<const graph::Node*>(slots.nodes[key]);
    }
    for (std::uint32_t arc = thread.rank_in_grid(); arc < slots.arcs; arc += thread.grid_size()) {
      if (is_block(slots.edges[arc])) edges[arc] = *static_cast<const graph::Edge*>(slots.edges[arc]);
    }
  }
};

// Same grid as the build, so that every thread finds its session again.
struct GraphFreeKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, GraphSlots slots) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t key = caller; key < slots.keys; key += geometry.callers) {
      if (is_block(slots.nodes[key])) session.free(thread, slots.nodes[key]);
    }
    for (std::uint32_t arc = caller; arc < slots.arcs; arc += geometry.callers) {
      session.free(thread, slots.edges[arc]);
    }
    release_all(session, thread);
    detach(session, thread);
  }
};

struct GraphBuild {
  struct Parameters : CallerParameters {
    std::string graph = "kma_64k";
    bool shuffle = false;
    std::uint32_t vertices = 16384;
    std::uint32_t arcs = 65536;
    bool hold = false;

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
              Field{"hold", &P::hold, "", "keep a superfluous node for the next need instead of freeing it",
                    "Spliet et al. 2014, sec. 5.3, of its bump heap"}});
    }
  };

  static constexpr WorkloadTraits traits{
      .name = "graph_build",
      .display_name = "Edge List to Graph",
      .paper = "Spliet et al. 2014, sec. 5.3",
      .summary = "threads turn an edge list into a tree of nodes with lists of edges",
      .phases = "build",
      .writes_blocks = true};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    // Lanes search on their own and meet an allocation at different times.
    return why_unsupported<A>(Geometry::of_callers(p.threads, p.threads_per_block, 1), sizeof(graph::Node), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          parameters_(parameters),
          geometry_(parameters.geometry()),
          seed_(setting.seed),
          arcs_(edge_list(parameters, seed_)),
          ids_(distinct_ids(arcs_)),
          device_arcs_(arcs_.size()),
          node_slots_(stream, ids_.back() + 1),
          edge_slots_(stream, static_cast<std::uint32_t>(arcs_.size())),
          root_(1),
          frees_(1),
          nodes_(node_slots_.callers()),
          edges_(arcs_.size()) {
      const std::string recycled = why_recycling<A>(2 * live_bytes(), setting);  // superfluous nodes come on top
      if (!recycled.empty()) throw CellFailure(Status::unsupported, recycled);
      device_arcs_.from_host(stream, arcs_);
    }

    void prepare() {
      node_slots_.poison();
      edge_slots_.poison();
      root_.fill_bytes(stream_, 0);
      frees_.fill_bytes(stream_, 0);
      nodes_.fill_bytes(stream_, 0);
      edges_.fill_bytes(stream_, 0);
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      timer.phase("build", 0, [&] {
        simt::launch(stream_, geometry_.shape(), GraphBuildKernel{}, allocator, geometry_,
                     static_cast<const Arc*>(device_arcs_.data()), parameters_.hold, root_.data(), slots(),
                     frees_.data());
      });
      simt::launch(stream_, geometry_.shape(), GraphReadKernel{}, slots(), nodes_.data(), edges_.data());
      simt::launch(stream_, geometry_.shape(), GraphFreeKernel{}, allocator, geometry_, slots());
      count(timer);
    }

    void check_recorded(PointerCheck& check) const {
      std::vector<RecordedBlock> blocks;
      graph::BuiltGraph built;
      built.root = root_.to_host(stream_).front();
      collect(node_slots_, nodes_.to_host(stream_), sizeof(graph::Node), blocks,
              [&](std::uint64_t address, const graph::Node& node) {
                built.nodes.push_back({address, node.key, node.left, node.right, node.edges});
              });
      std::erase_if(blocks, [](const RecordedBlock& block) { return block.address == poisoned_slot; });  // unused ids
      collect(edge_slots_, edges_.to_host(stream_), sizeof(graph::Edge), blocks,
              [&](std::uint64_t address, const graph::Edge& edge) {
                built.edges.push_back({address, edge.next, edge.target});
              });
      check.check(blocks, PointerCheck::Live::together);
      if (!check.ok() || check.nulls() != 0) return;
      const std::string problem = graph::graph_problem(built, arcs_);
      if (!problem.empty()) throw CellFailure(Status::incorrect, "wrong graph: " + problem);
    }

    RequestProfile requests() const {
      const auto blocks = static_cast<std::uint32_t>(arcs_.size() + ids_.size());
      return {
          Geometry::of_callers(blocks, parameters_.threads_per_block, simt::warp_size),
          RequestSizes::list({sizeof(graph::Edge), sizeof(graph::Node)}, {arcs_.size(), ids_.size()}, blocks, seed_)};
    }
    std::uint64_t mallocs_at_most() const { return 3 * arcs_.size() + geometry_.callers; }

    std::vector<KernelInfo> kernels() const {
      return {{"build", simt::kernel_attributes<GraphBuildKernel, A, Geometry, const Arc*, bool, std::uint64_t*,
                                                GraphSlots, std::uint64_t*>()}};
    }

   private:
    static std::vector<Arc> edge_list(const Parameters& p, std::uint64_t seed) {
      std::vector<Arc> arcs =
          p.graph == "generated" ? generate_edge_list(p.vertices, p.arcs, seed) : read_edge_list(p.graph);
      if (p.shuffle) allocbench::shuffle(arcs, seed);
      return arcs;
    }

    std::uint64_t live_bytes() const { return ids_.size() * sizeof(graph::Node) + arcs_.size() * sizeof(graph::Edge); }

    GraphSlots slots() const {
      return {node_slots_.data(), edge_slots_.data(), node_slots_.callers(), edge_slots_.callers()};
    }

    // How many nodes were asked for depends on lost races; each that is not in the tree was freed.
    void count(PhaseTimer& timer) {
      const std::uint64_t frees = frees_.to_host(stream_).front();
      const std::uint64_t mallocs = arcs_.size() + ids_.size() + frees;
      timer.set_operations("build", mallocs + frees);
      timer.counter("mallocs", mallocs);
      timer.counter("frees", frees);
    }

    template <class Content, class Keep>
    static void collect(const RecordedPointers& slots, const std::vector<Content>& contents, std::size_t bytes,
                        std::vector<RecordedBlock>& blocks, Keep&& keep) {
      for (const RecordedBlock& block : slots.blocks([&](std::size_t) { return bytes; })) {
        blocks.push_back(block);
        if (block.address != 0 && block.address != poisoned_slot) keep(block.address, contents[block.request]);
      }
    }

    simt::Stream& stream_;
    Parameters parameters_;
    Geometry geometry_;
    std::uint64_t seed_;
    std::vector<Arc> arcs_;
    std::vector<std::uint32_t> ids_;
    simt::Buffer<Arc> device_arcs_;
    RecordedPointers node_slots_;
    RecordedPointers edge_slots_;
    simt::Buffer<std::uint64_t> root_;
    simt::Buffer<std::uint64_t> frees_;
    simt::Buffer<graph::Node> nodes_;
    simt::Buffer<graph::Edge> edges_;
  };
};

}  // namespace allocbench
