#include "workloads/latency/latency.hpp"

#include <array>

#include "workloads/latency/kernels.hpp"
#include "workloads/latency/percentiles.hpp"
#include "workloads/support/callers/caller_requests.hpp"

namespace allocbench {
namespace {

struct Percentile {
  const char* name;
  double share;
};
constexpr std::array<Percentile, 4> percentiles{{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}};

class LatencyRun final : public WorkloadRun {
 public:
  LatencyRun(const LatencyTails::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        requests_(stream, parameters.geometry(), parameters.request_sizes(parameters.threads, setting.seed)),
        counted_(1) {}

  void prepare() override { requests_.poison(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    if (allocator.is_observed()) return requests_.alloc_and_free(allocator, timer);
    time("own", timer, [&] { alloc(allocator, false); });
    time("alloc", timer, [&] { alloc(allocator, true); });
    time("free", timer, [&] {
      allocator.launch<LatencyKernels>(stream_, shape(), FreeLatencyKernel{}, requests_.geometry(), requests_.row(0),
                                       counted_.data());
    });
  }

  void check_recorded(PointerCheck& check) const override { requests_.check(check); }
  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return requests_.callers(); }
  std::vector<KernelInfo> kernels() const override {
    using Sum = BlockLatencies::Sum;
    return {kernel_info<LatencyKernels, AllocLatencyKernel, Geometry, AnySize, void**, bool, Sum*>("alloc", type_),
            kernel_info<LatencyKernels, FreeLatencyKernel, Geometry, void**, Sum*>("free", type_)};
  }

 private:
  simt::LaunchShape shape() const {
    simt::LaunchShape result = requests_.geometry().shape();
    result.shared_bytes = BlockLatencies::shared_bytes;
    return result;
  }

  void alloc(const AllocatorHandle& allocator, bool calls) {
    allocator.launch<LatencyKernels>(stream_, shape(), AllocLatencyKernel{}, requests_.geometry(),
                                     requests_.sizes().any(), requests_.row(0), calls, counted_.data());
  }

  template <class Launch>
  void time(const std::string& phase, PhaseTimer& timer, Launch&& launch) {
    counted_.fill_bytes(stream_, 0);
    timer.phase(phase, requests_.callers(), launch);
    const BlockLatencies::Sum counted = counted_.to_host(stream_).front();
    for (const Percentile& each : percentiles) {
      timer.counter(phase + "_" + each.name, percentile(counted, each.share));
    }
    timer.counter(phase + "_max", counted.largest);
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  CallerRequests requests_;
  simt::Buffer<BlockLatencies::Sum> counted_;
};

}  // namespace

std::string LatencyTails::unsupported(const Parameters& parameters, const RunSetting& setting) {
  return why_unsupported(parameters.geometry(), parameters.largest_request(), setting);
}

std::unique_ptr<WorkloadRun> LatencyTails::open(const Parameters& parameters, const RunSetting& setting,
                                                simt::Stream& stream) {
  return std::make_unique<LatencyRun>(parameters, setting, stream);
}

}  // namespace allocbench
