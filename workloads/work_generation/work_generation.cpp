#include "workloads/work_generation/work_generation.hpp"

#include "workloads/prefix_sum/counted_pieces.hpp"
#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/contract/outcome.hpp"

namespace allocbench {
namespace {

constexpr std::uint32_t piece_unit_bytes = 4;

class WorkGenerationRun final : public WorkloadRun {
 public:
  WorkGenerationRun(const WorkGeneration::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : type_(setting.allocator),
        requests_(stream, parameters.geometry(), parameters.request_sizes(parameters.threads, setting.seed)),
        pieces_(stream, parameters.geometry(), piece_unit_bytes),
        addresses_(parameters.threads) {}

  void prepare() override {
    requests_.poison();
    pieces_.clear();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.phase("malloc_free", 2 * mallocs_at_most(), [&] {
      requests_.alloc(allocator);
      requests_.free(allocator);
    });
    timer.phase("baseline", requests_.callers(), [&] {
      pieces_.make_addresses(requests_.sizes().any(), PiecesFrom::device, addresses_.data());
      pieces_.free();
    });
    timer.phase("baseline_pool", requests_.callers(), [&] {
      pieces_.make_addresses(requests_.sizes().any(), PiecesFrom::stream_pool, addresses_.data());
      pieces_.free();
    });
  }

  void check_recorded(PointerCheck& check) const override {
    requests_.check(check);
    fail_if_wrong("baseline", pieces_.problem(requests_.sizes().host()));
  }
  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return requests_.callers(); }
  std::vector<KernelInfo> kernels() const override { return {requests_.alloc_info("malloc_free", type_)}; }

 private:
  const AllocatorType& type_;
  CallerRequests requests_;
  CountedPieces pieces_;
  simt::Buffer<void*> addresses_;
};

}  // namespace

std::string WorkGeneration::unsupported(const Parameters& parameters, const RunSetting& setting) {
  return why_unsupported(parameters.geometry(), parameters.largest_request(), setting);
}

std::unique_ptr<WorkloadRun> WorkGeneration::open(const Parameters& parameters, const RunSetting& setting,
                                                  simt::Stream& stream) {
  return std::make_unique<WorkGenerationRun>(parameters, setting, stream);
}

}  // namespace allocbench
