#include "workloads/prefix_sum/prefix_sum.hpp"

#include "workloads/prefix_sum/counted_pieces.hpp"
#include "workloads/prefix_sum/kernels.hpp"
#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/contract/outcome.hpp"

namespace allocbench {
namespace {

class PrefixSumRun final : public WorkloadRun {
 public:
  PrefixSumRun(const PrefixSum::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        requests_(stream, parameters.geometry(), parameters.request_sizes(parameters.threads, setting.seed)),
        pieces_(stream, parameters.geometry()) {}

  void prepare() override {
    requests_.poison();
    pieces_.clear();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    const bool writes =
        !allocator.is_observed();  // an observed allocator has filled the blocks, and its bytes must stay
    const AnySize sizes = requests_.sizes().any();
    timer.phase("malloc", requests_.callers(), [&] {
      allocator.launch<PrefixSumKernels>(stream_, requests_.geometry().shape(), MallocAndFillKernel{},
                                         requests_.geometry(), sizes, writes, requests_.row(0));
    });
    requests_.free(allocator);
    timer.phase("prefix_sum", requests_.callers(), [&] { pieces_.make_written(sizes, PiecesFrom::device); });
    pieces_.free();
    timer.phase("prefix_sum_pool", requests_.callers(), [&] { pieces_.make_written(sizes, PiecesFrom::stream_pool); });
    pieces_.free();
  }

  void check_recorded(PointerCheck& check) const override {
    requests_.check(check);
    fail_if_wrong("prefix sum", pieces_.problem(requests_.sizes().host()));
  }
  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return requests_.callers(); }
  std::vector<KernelInfo> kernels() const override {
    return {kernel_info<PrefixSumKernels, MallocAndFillKernel, Geometry, AnySize, bool, void**>("malloc", type_)};
  }

 private:
  simt::Stream& stream_;
  const AllocatorType& type_;
  CallerRequests requests_;
  CountedPieces pieces_;
};

}  // namespace

std::string PrefixSum::unsupported(const Parameters& parameters, const RunSetting& setting) {
  return why_unsupported(parameters.geometry(), parameters.largest_request(), setting);
}

std::unique_ptr<WorkloadRun> PrefixSum::open(const Parameters& parameters, const RunSetting& setting,
                                             simt::Stream& stream) {
  return std::make_unique<PrefixSumRun>(parameters, setting, stream);
}

}  // namespace allocbench
