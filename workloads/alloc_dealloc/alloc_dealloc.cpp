#include "workloads/alloc_dealloc/alloc_dealloc.hpp"

#include "workloads/alloc_dealloc/kernels.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

class AllocDeallocRun final : public WorkloadRun {
 public:
  AllocDeallocRun(const AllocDealloc::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : type_(setting.allocator),
        geometry_(parameters.geometry()),
        size_{parameters.padded_bytes()},
        results_(stream, geometry_.callers),
        confinement_(stream, parameters) {}

  void prepare() override {
    results_.poison();
    confinement_.prepare();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.phase("total", 2ull * geometry_.callers, [&] {
      confinement_.launch<AllocDeallocKernels>(allocator, geometry_.shape(), AllocDeallocKernel{}, geometry_, size_,
                                               results_.data());
    });
  }

  void check_recorded(PointerCheck& check) const override {
    results_.check(
        check, AnySize{size_.bytes}, [&](std::size_t) { return size_.bytes; }, PointerCheck::Live::separately);
    check.explain_nulls({geometry_.callers, requests().bytes()}, PointerCheck::Live::separately);
  }

  RequestProfile requests() const override { return {geometry_, RequestSizes::fixed(size_.bytes)}; }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return geometry_.callers; }

  std::vector<KernelInfo> kernels() const override {
    return {{"total",
             confinement_.attributes<AllocDeallocKernels, AllocDeallocKernel, Geometry, FixedSize, void**>(type_)}};
  }

 private:
  const AllocatorType& type_;
  Geometry geometry_;
  FixedSize size_;
  RecordedPointers results_;
  SmConfinement confinement_;
};

}  // namespace

std::string AllocDealloc::unsupported(const Parameters& parameters, const RunSetting& setting) {
  return why_unsupported(parameters.geometry(), parameters.padded_bytes(), setting);
}

std::unique_ptr<WorkloadRun> AllocDealloc::open(const Parameters& parameters, const RunSetting& setting,
                                                simt::Stream& stream) {
  return std::make_unique<AllocDeallocRun>(parameters, setting, stream);
}

}  // namespace allocbench
