#include "workloads/alloc_free/alloc_free.hpp"

#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {
namespace {

class AllocFreeRun final : public WorkloadRun {
 public:
  AllocFreeRun(const AllocFree::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : type_(setting.allocator),
        requests_(stream, parameters.geometry(), parameters.request_sizes(parameters.threads, setting.seed)) {
    requests_.set_alignment(parameters.alignment);
  }

  void prepare() override { requests_.poison(); }
  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    requests_.alloc_and_free(allocator, timer);
  }
  void check_recorded(PointerCheck& check) const override { requests_.check(check); }
  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return requests_.callers(); }
  std::vector<KernelInfo> kernels() const override { return requests_.kernels(type_); }

 private:
  const AllocatorType& type_;
  CallerRequests requests_;
};

}  // namespace

std::string AllocFree::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (parameters.alignment > setting.pool_bytes) {
    return "a pool of " + bytes_text(setting.pool_bytes) + " has no block at a multiple of " +
           std::to_string(parameters.alignment) + " B";
  }
  const std::size_t surplus = surplus_of_alignment(setting.traits().alignment, parameters.alignment);
  return why_unsupported(parameters.geometry(), parameters.largest_request() + surplus, setting);
}

std::unique_ptr<WorkloadRun> AllocFree::open(const Parameters& parameters, const RunSetting& setting,
                                             simt::Stream& stream) {
  return std::make_unique<AllocFreeRun>(parameters, setting, stream);
}

}  // namespace allocbench
