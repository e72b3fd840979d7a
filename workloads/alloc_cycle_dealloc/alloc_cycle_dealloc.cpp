#include "workloads/alloc_cycle_dealloc/alloc_cycle_dealloc.hpp"

#include "workloads/alloc_cycle_dealloc/kernels.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

// With this limit, the pointer array has at most 2 GiB, and every index fits into 32 bits.
constexpr std::uint64_t most_pointers_of_alloc_cycle_dealloc = 1ull << 28;

class AllocCycleDeallocRun final : public WorkloadRun {
 public:
  AllocCycleDeallocRun(const AllocCycleDealloc::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : type_(setting.allocator),
        parameters_(parameters),
        geometry_(parameters.geometry()),
        size_{parameters.padded_bytes()},
        results_(stream, geometry_.callers, parameters.iterations),
        confinement_(stream, parameters) {}

  void prepare() override {
    results_.poison();
    confinement_.prepare();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.phase("total", 2 * mallocs_at_most(), [&] {
      confinement_.launch<AllocCycleDeallocKernels>(allocator, geometry_.shape(), AllocCycleDeallocKernel{}, geometry_,
                                                    size_, parameters_.iterations, results_.data());
    });
  }

  void check_recorded(PointerCheck& check) const override {
    const std::vector<RecordedBlock> all = results_.blocks([&](std::size_t) { return size_.bytes; });
    std::vector<RecordedBlock> mine(parameters_.iterations);
    for (std::size_t caller = 0; caller < geometry_.callers; ++caller) {
      for (std::size_t round = 0; round < mine.size(); ++round) mine[round] = all[round * geometry_.callers + caller];
      check.check(mine, PointerCheck::Live::together);
    }
    check.explain_nulls({mallocs_at_most(), requests().bytes()}, PointerCheck::Live::separately);
  }

  // All blocks of all callers may be in use at once. Each caller has one block per iteration.
  RequestProfile requests() const override {
    return {Geometry::of_blocks(parameters_.blocks * parameters_.iterations, parameters_.threads_per_block,
                                parameters_.lanes_per_warp),
            RequestSizes::fixed(size_.bytes)};
  }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return std::uint64_t{geometry_.callers} * parameters_.iterations; }

  std::vector<KernelInfo> kernels() const override {
    return {{"total", confinement_.attributes<AllocCycleDeallocKernels, AllocCycleDeallocKernel, Geometry, FixedSize,
                                              std::uint32_t, void**>(type_)}};
  }

 private:
  const AllocatorType& type_;
  AllocCycleDealloc::Parameters parameters_;
  Geometry geometry_;
  FixedSize size_;
  RecordedPointers results_;
  SmConfinement confinement_;
};

}  // namespace

std::string AllocCycleDealloc::unsupported(const Parameters& parameters, const RunSetting& setting) {
  const std::uint64_t pointers = std::uint64_t{parameters.geometry().callers} * parameters.iterations;
  if (pointers > most_pointers_of_alloc_cycle_dealloc) {
    return "callers times iterations is " + std::to_string(pointers) + "; this workload keeps at most " +
           std::to_string(most_pointers_of_alloc_cycle_dealloc) + " pointers";
  }
  return why_unsupported(parameters.geometry(), parameters.padded_bytes(), setting);
}

std::unique_ptr<WorkloadRun> AllocCycleDealloc::open(const Parameters& parameters, const RunSetting& setting,
                                                     simt::Stream& stream) {
  return std::make_unique<AllocCycleDeallocRun>(parameters, setting, stream);
}

}  // namespace allocbench
