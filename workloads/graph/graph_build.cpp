#include "workloads/graph/graph_build.hpp"

#include <algorithm>
#include <memory>

#include "workloads/graph/build_kernels.hpp"
#include "workloads/graph/graph_check.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/inputs/kept_input.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

// Copies the contents of the blocks. The copy of a slot without a block stays zero.
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

std::vector<Arc> edge_list(const GraphBuild::Parameters& p, std::uint64_t seed) {
  std::vector<Arc> arcs =
      p.graph == "generated" ? generate_edge_list(p.vertices, p.arcs, seed) : read_edge_list(p.graph);
  if (p.shuffle) shuffle(arcs, seed);
  return arcs;
}

struct BuildInput {
  std::vector<Arc> arcs;  // in the order in which threads take them
  graph::ExpectedGraph expected;

  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.arcs);
    visit(self.expected.ids);
    visit(self.expected.arcs);
  }
};

std::shared_ptr<const BuildInput> input_of(const GraphBuild::Parameters& p, std::uint64_t seed) {
  const std::string key = stored_key("arcs of graph " + p.graph, {p.vertices, p.arcs, p.shuffle ? 1u : 0u, seed});
  return kept_input<BuildInput>(key, [&] {
    std::vector<Arc> arcs = edge_list(p, seed);
    return BuildInput{arcs, graph::ExpectedGraph(arcs)};
  });
}

// Adds the slots to `blocks`, and calls keep(address, content) for each slot that holds a block.
template <class Content, class Keep>
void collect(const RecordedPointers& slots, const std::vector<Content>& contents, std::vector<RecordedBlock>& blocks,
             Keep&& keep) {
  for (const RecordedBlock& block : slots.blocks([](std::size_t) { return sizeof(Content); })) {
    blocks.push_back(block);
    if (block.address != 0 && block.address != poisoned_slot) keep(block.address, contents[block.request]);
  }
}

class GraphBuildRun final : public WorkloadRun {
 public:
  GraphBuildRun(const GraphBuild::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        geometry_(parameters.geometry()),
        seed_(setting.seed),
        input_(input_of(parameters, seed_)),
        arcs_(input_->arcs),
        expected_(input_->expected),
        device_arcs_(arcs_.size()),
        node_slots_(stream, expected_.ids.back() + 1),
        edge_slots_(stream, static_cast<std::uint32_t>(arcs_.size())),
        block_slots_(stream, parameters.by_warp() ? 2 * static_cast<std::uint32_t>(arcs_.size()) : 0),
        root_(1),
        frees_(1),
        nodes_(node_slots_.callers()),
        edges_(arcs_.size()) {
    const std::uint64_t spare_bytes = parameters.by_warp() ? sizeof(graph::Node) * geometry_.callers : 0;
    fail_if_unsupported(why_recycling(2 * live_bytes() + spare_bytes, setting));  // nodes that lost a race come on top
    device_arcs_.from_host(stream, arcs_);
  }

  void prepare() override {
    node_slots_.poison();
    edge_slots_.poison();
    block_slots_.poison();
    root_.fill_bytes(stream_, 0);
    frees_.fill_bytes(stream_, 0);
    nodes_.fill_bytes(stream_, 0);
    edges_.fill_bytes(stream_, 0);
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    const Arc* const arcs = device_arcs_.data();
    timer.phase("build", 0, [&] {
      if (parameters_.by_warp()) {
        allocator.launch<GraphBuildKernels>(stream_, geometry_.shape(), WarpGraphBuildKernel{}, geometry_, arcs,
                                            root_.data(), slots());
      } else {
        allocator.launch<GraphBuildKernels>(stream_, geometry_.shape(), GraphBuildKernel{}, geometry_, arcs,
                                            parameters_.hold, root_.data(), slots(), frees_.data());
      }
    });
    simt::launch(stream_, geometry_.shape(), GraphReadKernel{}, slots(), nodes_.data(), edges_.data());
    allocator.launch<GraphBuildKernels>(stream_, geometry_.shape(), GraphFreeKernel{}, geometry_, slots());
    count(timer);
  }

  void check_recorded(PointerCheck& check) const override {
    std::vector<RecordedBlock> blocks;
    graph::BuiltGraph built;
    built.root = root_.to_host(stream_).front();
    collect(node_slots_, nodes_.to_host(stream_), blocks, [&](std::uint64_t address, const graph::Node& node) {
      built.nodes.push_back({address, node.key, node.left, node.right, node.edges});
    });
    std::erase_if(blocks,
                  [](const RecordedBlock& block) { return block.address == poisoned_slot; });  // ids that do not occur
    collect(edge_slots_, edges_.to_host(stream_), blocks, [&](std::uint64_t address, const graph::Edge& edge) {
      built.edges.push_back({address, edge.next, edge.target});
    });
    check.check(blocks, PointerCheck::Live::together);
    if (check.ok() && check.nulls() == 0) fail_if_wrong("graph", graph::graph_problem(built, expected_));
  }

  RequestProfile requests() const override {
    if (parameters_.by_warp()) {
      const auto blocks = static_cast<std::uint32_t>(arcs_.size() / parameters_.lanes_per_warp + 1);
      return {Geometry::of_callers(blocks, parameters_.threads_per_block, 1),
              RequestSizes::fixed(pad(live_bytes() / blocks + 1, sizeof(graph::Edge)))};
    }
    const auto blocks = static_cast<std::uint32_t>(arcs_.size() + expected_.ids.size());
    return {Geometry::of_callers(blocks, parameters_.threads_per_block, simt::warp_size),
            RequestSizes::list({sizeof(graph::Edge), sizeof(graph::Node)}, {arcs_.size(), expected_.ids.size()}, blocks,
                               seed_)};
  }
  std::optional<std::uint64_t> largest_request() const override {
    if (parameters_.by_warp()) return std::nullopt;
    return requests().sizes.largest();
  }
  std::uint64_t mallocs_at_most() const override { return 3 * arcs_.size() + geometry_.callers; }

  std::vector<KernelInfo> kernels() const override {
    if (parameters_.by_warp()) {
      return {kernel_info<GraphBuildKernels, WarpGraphBuildKernel, Geometry, const Arc*, std::uint64_t*, GraphSlots>(
          "build", type_)};
    }
    return {kernel_info<GraphBuildKernels, GraphBuildKernel, Geometry, const Arc*, bool, std::uint64_t*, GraphSlots,
                        std::uint64_t*>("build", type_)};
  }

 private:
  std::uint64_t live_bytes() const {
    return expected_.ids.size() * sizeof(graph::Node) + arcs_.size() * sizeof(graph::Edge);
  }

  GraphSlots slots() const {
    return {node_slots_.data(), edge_slots_.data(), parameters_.by_warp() ? block_slots_.data() : nullptr,
            node_slots_.callers(), edge_slots_.callers()};
  }

  // The number of requested nodes depends on lost races. Unless warps request the memory, each node that is not in the
  // tree has been freed.
  void count(PhaseTimer& timer) {
    const std::uint64_t frees = frees_.to_host(stream_).front();
    const std::uint64_t mallocs = parameters_.by_warp() ? warp_requests() : arcs_.size() + expected_.ids.size() + frees;
    timer.set_operations("build", mallocs + frees);
    timer.counter("mallocs", mallocs);
    timer.counter("frees", frees);
  }

  std::uint64_t warp_requests() const {
    const std::vector<RecordedBlock> slots = block_slots_.blocks([](std::size_t) { return std::uint64_t{0}; });
    return static_cast<std::uint64_t>(std::count_if(
        slots.begin(), slots.end(), [](const RecordedBlock& slot) { return slot.address != poisoned_slot; }));
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  GraphBuild::Parameters parameters_;
  Geometry geometry_;
  std::uint64_t seed_;
  std::shared_ptr<const BuildInput> input_;
  const std::vector<Arc>& arcs_;
  const graph::ExpectedGraph& expected_;
  simt::Buffer<Arc> device_arcs_;
  RecordedPointers node_slots_;
  RecordedPointers edge_slots_;
  RecordedPointers block_slots_;  // filled if `requests` is warp
  simt::Buffer<std::uint64_t> root_;
  simt::Buffer<std::uint64_t> frees_;
  simt::Buffer<graph::Node> nodes_;
  simt::Buffer<graph::Edge> edges_;
};

}  // namespace

std::string GraphBuild::unsupported(const Parameters& p, const RunSetting& setting) {
  // Lanes search independently and allocate at different times.
  const std::size_t largest =
      p.by_warp() ? p.lanes_per_warp * (graph::edge_bytes + graph::node_bytes) : sizeof(graph::Node);
  return why_unsupported(Geometry::of_callers(p.threads, p.threads_per_block, 1), largest, setting);
}

std::unique_ptr<WorkloadRun> GraphBuild::open(const Parameters& parameters, const RunSetting& setting,
                                              simt::Stream& stream) {
  return std::make_unique<GraphBuildRun>(parameters, setting, stream);
}

}  // namespace allocbench
