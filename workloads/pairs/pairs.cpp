#include "workloads/pairs/pairs.hpp"

#include <algorithm>

#include "workloads/pairs/kernels.hpp"
#include "workloads/support/requests/device_sizes.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

// With this limit, the pointer array has at most 2 GiB, and every index fits into 32 bits.
constexpr std::uint64_t most_pairs = 1ull << 28;
// A verification pass runs at most this many iterations, because its calls take longer than timed calls.
constexpr std::uint32_t iterations_observed = 16;

class PairsRun final : public WorkloadRun {
 public:
  PairsRun(const Pairs::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        geometry_(parameters.geometry()),
        seed_(setting.seed),
        sizes_(parameters.request_sizes(geometry_.callers * parameters.iterations, seed_), stream),
        results_(stream, geometry_.callers, parameters.iterations) {}

  void prepare() override { results_.poison(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    iterations_ =
        allocator.is_observed() ? std::min(parameters_.iterations, iterations_observed) : parameters_.iterations;
    timer.phase("total", 2 * std::uint64_t{geometry_.callers} * iterations_, [&] {
      allocator.launch<PairsKernels>(stream_, geometry_.shape(), PairsKernel{}, geometry_, sizes_.any(), iterations_,
                                     results_.data());
    });
  }

  void check_recorded(PointerCheck& check) const override {
    results_.check_each(
        check, sizes_.any(), [&](std::size_t request) { return sizes_.host()[request]; },
        PointerCheck::Live::separately, iterations_);
    const std::uint64_t callers = geometry_.callers;
    check.explain_nulls({callers, callers * pad(sizes_.host().largest(), 16)}, PointerCheck::Live::separately);
  }

  // The profile covers one iteration, because each caller has one block at a time.
  RequestProfile requests() const override { return {geometry_, parameters_.request_sizes(geometry_.callers, seed_)}; }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return std::uint64_t{geometry_.callers} * parameters_.iterations; }

  std::vector<KernelInfo> kernels() const override {
    return {kernel_info<PairsKernels, PairsKernel, Geometry, AnySize, std::uint32_t, void**>("total", type_)};
  }

 private:
  simt::Stream& stream_;
  const AllocatorType& type_;
  Pairs::Parameters parameters_;
  Geometry geometry_;
  std::uint64_t seed_;
  DeviceSizes sizes_;
  RecordedPointers results_;
  std::uint32_t iterations_ = 0;  // iterations of the last sample
};

}  // namespace

std::string Pairs::unsupported(const Parameters& parameters, const RunSetting& setting) {
  const std::uint64_t pairs = std::uint64_t{parameters.threads} * parameters.iterations;
  if (pairs > most_pairs) {
    return "threads times iterations is " + std::to_string(pairs) + "; this workload keeps at most " +
           std::to_string(most_pairs) + " pointers";
  }
  return why_unsupported(parameters.geometry(), parameters.largest_request(), setting);
}

std::unique_ptr<WorkloadRun> Pairs::open(const Parameters& parameters, const RunSetting& setting,
                                         simt::Stream& stream) {
  return std::make_unique<PairsRun>(parameters, setting, stream);
}

}  // namespace allocbench
