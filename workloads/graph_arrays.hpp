// graph_arrays: a graph whose vertices keep their arcs in dynamic arrays, set up at once and then updated in batches.
//
// Winter et al., PPoPP'21, graph tests. Set-up: every vertex allocates the next power of two of what its arcs need, 16
// bytes at least, and copies them. Then, `batches` times, random arcs come in and the same arcs go again; a vertex
// whose power of two changes allocates, copies and frees: graph/array_update.hpp. The batches are sorted, and stripped
// of what the graph has already, on the host beforehand: timed are the kernels that allocate and free. After the last
// insertion and after the last deletion the arrays are compared with the graph, exactly. The phases `insert` and
// `delete` hold all batches of a sample; where memory runs out no further batch comes.
#pragma once

#include "workloads/common/kernels.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/graph/arrays_state.hpp"

namespace allocbench {

struct GraphArrays {
  using Parameters = graph::ArraysParameters;

  static constexpr WorkloadTraits traits{
      .name = "graph_arrays",
      .display_name = "Graph of Dynamic Arrays",
      .paper = "Winter et al., PPoPP'21, graph tests",
      .summary = "vertices keep their arcs in arrays that grow and shrink with batches of updates",
      .phases = "init insert delete free",
      .writes_blocks = true,
      .application = true};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>&) {
    const std::string name(A::traits.display_name);
    if (A::traits.frees == Frees::in_bulk && (p.batches != 0 || p.lanes_per_vertex != 1)) {
      return name + " frees all blocks of a session at once; updates free one array at a time";
    }
    if (A::traits.alignment < 16) {
      return name + " aligns blocks to " + std::to_string(A::traits.alignment) + " B; arrays are copied 16 B at a time";
    }
    if (p.threads_per_block % simt::warp_size != 0) {
      throw std::invalid_argument("threads_per_block: lanes of a warp share vertices, so blocks are whole warps");
    }
    return {};
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream), lanes_(parameters.lanes_per_vertex), state_(stream, parameters, setting.seed) {
      // Lanes meet an allocation at different times, so whole warps never call together.
      const Geometry apart = Geometry::of_callers(state_.start().vertices(), parameters.threads_per_block, 1);
      std::string why = why_unsupported<A>(apart, state_.largest_request(), setting);
      if (why.empty()) why = why_recycling<A>(state_.requested_bytes(), setting);
      if (!why.empty()) throw CellFailure(Status::unsupported, why);
    }

    void prepare() { state_.prepare(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      update(allocator, timer, "init", state_.all_vertices(), graph::Update::init);
      for (std::uint32_t batch = 0; batch < state_.batches() && state_.failures() == 0; ++batch) {
        update(allocator, timer, "insert", state_.batch(batch), graph::Update::insert);
        if (batch + 1 == state_.batches()) state_.read_inserted();
        update(allocator, timer, "delete", state_.batch(batch), graph::Update::remove);
      }
      state_.read_final();
      const Geometry vertices = state_.vertices();
      timer.phase("free", vertices.callers, [&] {
        simt::launch(stream_, vertices.shape(), FreeKernel{}, allocator, vertices, state_.arrays().blocks);
      });
      timer.counter("mallocs", state_.mallocs());
      timer.counter("frees", state_.mallocs());
      timer.counter("requested_bytes", state_.requested_bytes());
    }

    void check_recorded(PointerCheck& check) const { state_.check_recorded(check); }
    RequestProfile requests() const { return state_.requests(); }
    std::uint64_t mallocs_at_most() const { return state_.mallocs(); }

    std::vector<KernelInfo> kernels() const {
      const auto attributes = simt::kernel_attributes<graph::UpdateArraysKernel, A, Geometry, graph::Batch,
                                                      graph::Arrays, graph::Update, std::uint32_t, std::uint64_t*>();
      return {{"init", attributes},
              {"insert", attributes},
              {"delete", attributes},
              {"free", simt::kernel_attributes<FreeKernel, A, Geometry, void**>()}};
    }

   private:
    template <class Caller>
    void update(const Caller& allocator, PhaseTimer& timer, std::string_view phase, const graph::BatchLaunch& launch,
                graph::Update update) {
      if (launch.geometry.callers == 0) return;
      timer.phase(phase, launch.operations, [&] {
        simt::launch(stream_, launch.geometry.shape(), graph::UpdateArraysKernel{}, allocator, launch.geometry,
                     launch.batch, state_.arrays(), update, lanes_, state_.failure_counter());
      });
    }

    simt::Stream& stream_;
    std::uint32_t lanes_;
    graph::ArraysState state_;
  };
};

}  // namespace allocbench
