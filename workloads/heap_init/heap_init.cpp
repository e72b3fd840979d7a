#include "workloads/heap_init/heap_init.hpp"

#include "workloads/support/callers/caller_requests.hpp"

namespace allocbench {
namespace {

class HeapInitRun final : public WorkloadRun {
 public:
  HeapInitRun(const HeapInit::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        requests_(stream, parameters.geometry(), RequestSizes::fixed(parameters.request_bytes)) {}

  void prepare() override { requests_.poison(); }

  // An observed allocator is not reset here, because its pass starts from a heap that has just been reset.
  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    if (!allocator.is_observed()) timer.phase("init", 1, [&] { allocator.reset(stream_); });
    timer.phase("first_alloc", requests_.callers(), [&] { requests_.alloc(allocator); });
    requests_.free(allocator);
  }

  void check_recorded(PointerCheck& check) const override { requests_.check(check); }
  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return requests_.callers(); }
  std::vector<KernelInfo> kernels() const override { return {requests_.alloc_info("first_alloc", type_)}; }

 private:
  simt::Stream& stream_;
  const AllocatorType& type_;
  CallerRequests requests_;
};

}  // namespace

std::string HeapInit::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (setting.traits().fresh != Fresh::by_reset) {
    return setting.display_name() + " cannot be reset: only a new process makes it fresh";
  }
  return why_unsupported(parameters.geometry(), parameters.request_bytes, setting);
}

std::unique_ptr<WorkloadRun> HeapInit::open(const Parameters& parameters, const RunSetting& setting,
                                            simt::Stream& stream) {
  return std::make_unique<HeapInitRun>(parameters, setting, stream);
}

}  // namespace allocbench
