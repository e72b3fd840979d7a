#include "workloads/probability/probability.hpp"

#include "workloads/support/callers/random_actions.hpp"
#include "workloads/support/requests/draw_unit.hpp"

namespace allocbench {
namespace {

RandomActions actions_of(const Probability::Parameters& parameters, std::uint64_t seed, simt::Stream& stream) {
  const StepProbabilities likely{parameters.p_alloc, parameters.p_free};
  const Geometry geometry = parameters.geometry();
  return RandomActions(
      stream, geometry, FixedSize{parameters.padded_bytes()},
      probability_steps(seed, draw_of_callers(geometry, "thread"), parameters.launches, likely, likely),
      parameters.launches, parameters);
}

class ProbabilityRun final : public WorkloadRun {
 public:
  ProbabilityRun(const Probability::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : type_(setting.allocator), parameters_(parameters), actions_(actions_of(parameters, setting.seed, stream)) {}

  void prepare() override { actions_.prepare(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.phase("total", 0, [&] {
      for (std::uint32_t launch = 0; launch < parameters_.launches; ++launch) actions_.launch(allocator, launch);
    });
    actions_.finish(allocator);
    const RandomActions::Counts counts = actions_.counts(0, parameters_.launches);
    timer.set_operations("total", counts.sum());
    timer.counter("mallocs", counts.mallocs);
    timer.counter("frees", counts.frees);
  }

  void check_recorded(PointerCheck& check) const override { actions_.check_recorded(check); }
  RequestProfile requests() const override {
    return {parameters_.geometry(), RequestSizes::fixed(parameters_.padded_bytes())};
  }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override {
    return std::uint64_t{parameters_.geometry().callers} * parameters_.launches;
  }
  std::vector<KernelInfo> kernels() const override { return {{"total", actions_.kernel_attributes(type_)}}; }

 private:
  const AllocatorType& type_;
  Probability::Parameters parameters_;
  RandomActions actions_;
};

}  // namespace

std::string Probability::unsupported(const Parameters& parameters, const RunSetting& setting) {
  return why_unsupported(parameters.geometry(), parameters.padded_bytes(), setting);
}

std::unique_ptr<WorkloadRun> Probability::open(const Parameters& parameters, const RunSetting& setting,
                                               simt::Stream& stream) {
  return std::make_unique<ProbabilityRun>(parameters, setting, stream);
}

}  // namespace allocbench
