#include "workloads/graph/graph_arrays.hpp"

#include "workloads/graph/arrays_state.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using graph::Update;

class GraphArraysRun final : public WorkloadRun {
 public:
  GraphArraysRun(const GraphArrays::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        lanes_(parameters.lanes_per_vertex),
        state_(stream, parameters, setting.seed) {
    // Lanes allocate at different times. So designs that need whole-warp calls are unsupported.
    const Geometry apart = Geometry::of_callers(state_.start().vertices(), parameters.threads_per_block, 1);
    fail_if_unsupported(why_unsupported(apart, state_.largest_request(), setting));
    fail_if_unsupported(why_recycling(state_.requested_bytes(), setting));
  }

  void prepare() override { state_.prepare(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    update(allocator, timer, "init", state_.all_vertices(), Update::init);
    for (std::uint32_t batch = 0; batch < state_.batches() && state_.failures() == 0; ++batch) {
      if (state_.sorts()) timer.phase("sort", 0, [&] { state_.sort(batch); });
      update(allocator, timer, "insert", state_.insertion(batch), Update::insert);
      state_.check_inserted(batch);
      update(allocator, timer, "delete", state_.deletion(batch), Update::remove);
    }
    state_.read_final();
    const Geometry vertices = state_.vertices();
    timer.phase("free", vertices.callers, [&] {
      allocator.launch<CallKernels>(stream_, vertices.shape(), FreeKernel{}, vertices, state_.arrays().blocks);
    });
    timer.counter("mallocs", state_.mallocs());
    timer.counter("frees", state_.mallocs());
    timer.counter("requested_bytes", state_.requested_bytes());
  }

  void check_recorded(PointerCheck& check) const override { state_.check_recorded(check); }
  RequestProfile requests() const override { return state_.requests(); }
  std::uint64_t mallocs_at_most() const override { return state_.mallocs(); }

  std::vector<KernelInfo> kernels() const override {
    std::vector<KernelInfo> infos;
    for (const char* phase : {"init", "insert", "delete"}) {
      infos.push_back(kernel_info<graph::ArraysKernels, graph::UpdateArraysKernel, Geometry, graph::Batch,
                                  graph::Arrays, Update, std::uint32_t, std::uint64_t*>(phase, type_));
    }
    infos.push_back(kernel_info<CallKernels, FreeKernel, Geometry, void**>("free", type_));
    return infos;
  }

 private:
  void update(const AllocatorHandle& allocator, PhaseTimer& timer, std::string_view phase,
              const graph::BatchLaunch& launch, Update update) {
    if (launch.geometry.callers == 0) return;
    timer.phase(phase, launch.operations, [&] {
      allocator.launch<graph::ArraysKernels>(stream_, launch.geometry.shape(), graph::UpdateArraysKernel{},
                                             launch.geometry, launch.batch, state_.arrays(), update, lanes_,
                                             state_.failure_counter());
    });
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  std::uint32_t lanes_;
  graph::ArraysState state_;
};

}  // namespace

std::string GraphArrays::unsupported(const Parameters& p, const RunSetting& setting) {
  const std::string name = setting.display_name();
  if (setting.traits().frees == Frees::in_bulk && (p.batches != 0 || p.lanes_per_vertex != 1)) {
    return name + " frees all blocks of a session at once; updates free one array at a time";
  }
  if (setting.traits().alignment < 16) {
    return name + " aligns blocks to " + std::to_string(setting.traits().alignment) +
           " B; arrays are copied 16 B at a time";
  }
  if (p.threads_per_block % simt::warp_size != 0) {
    throw std::invalid_argument("threads_per_block: lanes of a warp share vertices, so blocks must be whole warps");
  }
  return {};
}

std::unique_ptr<WorkloadRun> GraphArrays::open(const Parameters& parameters, const RunSetting& setting,
                                               simt::Stream& stream) {
  return std::make_unique<GraphArraysRun>(parameters, setting, stream);
}

}  // namespace allocbench
