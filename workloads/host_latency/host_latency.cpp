#include "workloads/host_latency/host_latency.hpp"

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/kernels/several_kernels.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

class HostLatencyRun final : public WorkloadRun {
 public:
  HostLatencyRun(const HostLatency::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        calls_{.geometry = Geometry::of_callers(1, 1, 1), .allocations = parameters.allocations},
        size_{.fixed = parameters.request_bytes},
        pool_(stream.device()),
        results_(stream, 1, parameters.allocations) {
    host_blocks_.reserve(parameters.allocations);
    pool_blocks_.reserve(parameters.allocations);
  }

  void prepare() override { results_.poison(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.host_phase("host_alloc", calls_.allocations, [&] {
      for (std::uint32_t i = 0; i < calls_.allocations; ++i) host_blocks_.emplace_back(size_.fixed);
    });
    timer.host_phase("host_free", calls_.allocations, [&] { host_blocks_.clear(); });
    timer.host_phase("stream_alloc", calls_.allocations, [&] {
      for (std::uint32_t i = 0; i < calls_.allocations; ++i) {
        pool_blocks_.push_back(pool_.allocate(stream_, size_.fixed));
      }
      stream_.synchronize();
    });
    timer.host_phase("stream_free", calls_.allocations, [&] {
      for (void* const block : pool_blocks_) pool_.release(stream_, block);
      stream_.synchronize();
    });
    pool_blocks_.clear();
    const simt::LaunchShape shape = calls_.geometry.shape();
    timer.phase("alloc", calls_.allocations, [&] {
      allocator.launch<SeveralKernels>(stream_, shape, AllocSeveralKernel{}, calls_, size_, results_.data());
    });
    timer.phase("free", calls_.allocations, [&] {
      allocator.launch<SeveralKernels>(stream_, shape, FreeSeveralKernel{}, calls_, results_.data());
    });
  }

  void check_recorded(PointerCheck& check) const override {
    check.check(results_.blocks([&](std::size_t) { return size_.fixed; }), PointerCheck::Live::together);
  }

  RequestProfile requests() const override {
    return {Geometry::of_callers(calls_.allocations, 1, 1), RequestSizes::fixed(size_.fixed)};
  }
  std::uint64_t mallocs_at_most() const override { return calls_.allocations; }

  std::vector<KernelInfo> kernels() const override {
    return {kernel_info<SeveralKernels, AllocSeveralKernel, SeveralCalls, AnySize, void**>("alloc", type_),
            kernel_info<SeveralKernels, FreeSeveralKernel, SeveralCalls, void**>("free", type_)};
  }

 private:
  simt::Stream& stream_;
  const AllocatorType& type_;
  SeveralCalls calls_;
  AnySize size_;
  std::vector<simt::Buffer<std::byte>> host_blocks_;
  simt::StreamPool pool_;
  std::vector<void*> pool_blocks_;
  RecordedPointers results_;
};

}  // namespace

std::string HostLatency::unsupported(const Parameters& parameters, const RunSetting& setting) {
  return why_unsupported(Geometry::of_callers(1, 1, 1), parameters.request_bytes, setting);
}

std::unique_ptr<WorkloadRun> HostLatency::open(const Parameters& parameters, const RunSetting& setting,
                                               simt::Stream& stream) {
  return std::make_unique<HostLatencyRun>(parameters, setting, stream);
}

}  // namespace allocbench
