#include "workloads/atomic_latency/atomic_latency.hpp"

#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/word_contention.hpp"

namespace allocbench {
namespace {

class AtomicLatencyRun final : public WorkloadRun {
 public:
  AtomicLatencyRun(const AtomicLatency::Parameters& parameters, simt::Stream& stream)
      : stream_(stream), word_(parameters.threads, parameters.threads_per_block, parameters.additions) {}

  void prepare() override {}
  void sample(const AllocatorHandle&, PhaseTimer& timer) override {
    timer.counter("atomic_cycles", word_.run(stream_, timer));
  }

  void check_recorded(PointerCheck&) const override {
    const std::uint32_t found = word_.found(stream_);
    if (found != word_.expected()) {
      throw CellFailure(Status::incorrect, "the word contains " + std::to_string(found) + " after " +
                                               std::to_string(word_.expected()) + " additions");
    }
  }

  // The leak check makes this request.
  RequestProfile requests() const override { return {Geometry::of_callers(1, 1, 1), RequestSizes::fixed(16)}; }
  std::uint64_t mallocs_at_most() const override { return 0; }
  std::vector<KernelInfo> kernels() const override { return {}; }

 private:
  simt::Stream& stream_;
  WordContention word_;
};

}  // namespace

std::string AtomicLatency::unsupported(const Parameters& parameters, const RunSetting&) {
  const bool fits = std::uint64_t{parameters.threads} * parameters.additions < 0xffffffffu;
  return fits ? "" : "threads times additions must fit a word of 32 bits";
}

std::unique_ptr<WorkloadRun> AtomicLatency::open(const Parameters& parameters, const RunSetting&,
                                                 simt::Stream& stream) {
  return std::make_unique<AtomicLatencyRun>(parameters, stream);
}

}  // namespace allocbench
