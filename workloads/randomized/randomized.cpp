#include "workloads/randomized/randomized.hpp"

#include "workloads/support/callers/random_actions.hpp"

namespace allocbench {
namespace {

// With this limit, the pointer array has at most 1 GiB.
constexpr std::uint64_t most_actions = 1ull << 27;

RandomActions actions_of(const Randomized::Parameters& parameters, std::uint64_t seed, simt::Stream& stream) {
  const Geometry geometry = parameters.geometry();
  return RandomActions(stream, geometry, FixedSize{parameters.request_bytes},
                       probability_steps(seed, draw_of_callers(geometry, parameters.divergence), parameters.launches,
                                         {parameters.p_alloc_even, parameters.p_free_even},
                                         {parameters.p_alloc_odd, parameters.p_free_odd}),
                       parameters.launches);
}

class RandomizedRun final : public WorkloadRun {
 public:
  RandomizedRun(const Randomized::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : type_(setting.allocator), parameters_(parameters), actions_(actions_of(parameters, setting.seed, stream)) {}

  void prepare() override { actions_.prepare(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    const std::uint32_t last = parameters_.launches - 1;
    if (last > 0) {
      timer.phase("earlier", 0, [&] {
        for (std::uint32_t launch = 0; launch < last; ++launch) actions_.launch(allocator, launch);
      });
    }
    timer.phase("last", 0, [&] { actions_.launch(allocator, last); });
    actions_.finish(allocator);
    timer.set_operations("earlier", actions_.counts(0, last).sum());
    timer.set_operations("last", actions_.counts(last, last + 1).sum());
    const RandomActions::Counts all = actions_.counts(0, last + 1);
    timer.counter("mallocs", all.mallocs);
    timer.counter("frees", all.frees);
  }

  void check_recorded(PointerCheck& check) const override { actions_.check_recorded(check); }
  RequestProfile requests() const override {
    return {parameters_.geometry(), RequestSizes::fixed(parameters_.request_bytes)};
  }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return std::uint64_t{parameters_.threads} * parameters_.launches; }
  std::vector<KernelInfo> kernels() const override { return {{"last", actions_.kernel_attributes(type_)}}; }

 private:
  const AllocatorType& type_;
  Randomized::Parameters parameters_;
  RandomActions actions_;
};

}  // namespace

std::string Randomized::unsupported(const Parameters& parameters, const RunSetting& setting) {
  const std::uint64_t actions = std::uint64_t{parameters.threads} * parameters.launches;
  if (actions > most_actions) {
    return "threads times launches is " + std::to_string(actions) + "; this workload records at most " +
           std::to_string(most_actions) + " actions";
  }
  if (const std::string reason = why_torn_warps(parameters.divergence, setting); !reason.empty()) return reason;
  return why_unsupported(parameters.geometry(), parameters.request_bytes, setting);
}

std::unique_ptr<WorkloadRun> Randomized::open(const Parameters& parameters, const RunSetting& setting,
                                              simt::Stream& stream) {
  return std::make_unique<RandomizedRun>(parameters, setting, stream);
}

}  // namespace allocbench
