#include "workloads/scenario/scenario.hpp"

#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "workloads/pairs/kernels.hpp"
#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/inputs/stored_value.hpp"
#include "workloads/support/occupancy/occupancy.hpp"

namespace allocbench {
namespace {

std::string text_of(const ParameterValue& value) {
  return std::visit(
      [](const auto& each) -> std::string {
        using Value = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          return each;
        } else if constexpr (std::is_same_v<Value, std::vector<std::uint64_t>>) {
          std::string all;
          for (const std::uint64_t number : each) all += std::to_string(number) + ' ';
          return all;
        } else if constexpr (std::is_same_v<Value, double>) {
          return std::to_string(std::bit_cast<std::uint64_t>(each));
        } else {
          return std::to_string(each);
        }
      },
      value);
}

// Returns the key under which the processes of a run share the number of blocks that an empty pool serves.
std::string key_of_served(const RunSetting& setting, std::uint64_t bytes) {
  std::string key = "blocks of " + std::to_string(bytes) + " B that a pool of " + std::to_string(setting.pool_bytes) +
                    " B serves with " + std::string(setting.traits().name);
  for (const auto& [name, value] : setting.parameters) key += ", " + name + '=' + text_of(value);
  return key;
}

// With this limit, each pointer array has at most 1 GiB.
constexpr std::uint64_t most_pointers_of_scenario = 1ull << 27;

class ScenarioRun final : public WorkloadRun {
 public:
  ScenarioRun(const Scenario::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        launches_(parameters.launches),
        scenario_(parameters.requests()),
        key_of_served_(key_of_served(setting, scenario_.occupant_bytes())),
        taken_share_(1 - parameters.free_share),
        occupants_at_most_(static_cast<std::uint32_t>(parameters.occupants_at_most(setting.pool_bytes))),
        requests_(stream, parameters.geometry(), scenario_.request_sizes(parameters.threads, setting.seed), launches_) {
  }

  void prepare() override { requests_.poison(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    if (!occupants_) occupants_.emplace(stream_, blocks_in_use(allocator.bare()));
    const PageSet all = PageSet::first(occupants_->count());
    occupants_->enter(allocator.uncounted(), scenario_.occupant_bytes(), all);
    timer.phase("total", operations(), [&] {
      for (std::uint32_t launch = 0; launch < launches_; ++launch) {
        if (scenario_.frees_at_once) {
          alloc_and_free_at_once(allocator, launch);
        } else {
          requests_.alloc(allocator, launch);
        }
      }
    });
    for (std::uint32_t launch = 0; launch < launches_ && !scenario_.frees_at_once; ++launch) {
      requests_.free(allocator, launch);
    }
    occupants_->leave(allocator.uncounted(), all);
  }

  void check_recorded(PointerCheck& check) const override {
    const std::uint64_t occupants = occupants_->count();
    requests_.check(check, scenario_.frees_at_once ? PointerCheck::Live::separately : PointerCheck::Live::together,
                    {occupants, occupants * pad(scenario_.occupant_bytes(), 16)});
  }

  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override {
    return std::max<std::uint64_t>(requests().sizes.largest(), scenario_.occupant_bytes());
  }
  std::uint64_t mallocs_at_most() const override {
    return std::uint64_t{requests_.callers()} * launches_ + occupants_at_most_;
  }

  std::vector<KernelInfo> kernels() const override {
    if (!scenario_.frees_at_once) return {requests_.alloc_info("total", type_)};
    return {kernel_info<PairsKernels, PairsKernel, Geometry, AnySize, std::uint32_t, void**>("total", type_)};
  }

 private:
  void alloc_and_free_at_once(const AllocatorHandle& allocator, std::uint32_t launch) {
    allocator.launch<PairsKernels>(stream_, requests_.geometry().shape(), PairsKernel{}, requests_.geometry(),
                                   requests_.sizes().any(), std::uint32_t{1}, requests_.row(launch));
  }

  std::uint64_t operations() const {
    return std::uint64_t{requests_.callers()} * launches_ * (scenario_.frees_at_once ? 2 : 1);
  }

  // Returns the number of blocks that are in use before a sample. It is a share of the number that an empty pool
  // serves. Some designs can take a second to fill the pool, so the first process of a run counts for all processes.
  // All rounds then use the same number.
  std::uint32_t blocks_in_use(const AllocatorHandle& allocator) const {
    if (occupants_at_most_ == 0) return 0;
    std::uint32_t served = 0;
    std::optional<StoredValue> stored = StoredValue::open(key_of_served_);
    if (!stored || !stored->read(&served, 1)) {
      served = count_served(allocator);
      store_value(key_of_served_, {std::as_bytes(std::span(&served, 1))});
    }
    return static_cast<std::uint32_t>(std::llround(taken_share_ * served));
  }

  std::uint32_t count_served(const AllocatorHandle& allocator) const {
    Occupants everyone(stream_, occupants_at_most_);
    const PageSet all = PageSet::first(occupants_at_most_);
    everyone.enter(allocator, scenario_.occupant_bytes(), all);
    const std::uint32_t served = everyone.present();
    if (type_.traits.fresh == Fresh::by_reset) {
      allocator.reset(stream_);
    } else {
      everyone.leave(allocator, all);
    }
    return served;
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  std::uint32_t launches_;
  RequestScenario scenario_;
  std::string key_of_served_;
  double taken_share_;
  std::uint32_t occupants_at_most_;
  CallerRequests requests_;
  std::optional<Occupants> occupants_;  // counted before the first sample
};

}  // namespace

std::string Scenario::unsupported(const Parameters& parameters, const RunSetting& setting) {
  const Traits& traits = setting.traits();
  if (traits.frees == Frees::in_bulk) {
    return setting.display_name() + " frees in bulk: one free would free all blocks of a sample";
  }
  if (parameters.takes_before() &&
      (traits.frees == Frees::never || traits.recycles_unfreed || traits.whole_warp_calls)) {
    return setting.display_name() + " cannot be brought to a share of free memory by single mallocs and frees";
  }
  if (std::uint64_t{parameters.threads} * parameters.launches > most_pointers_of_scenario) {
    return "threads times launches is more than the " + std::to_string(most_pointers_of_scenario) +
           " pointers that this workload keeps";
  }
  if (parameters.occupants_at_most(setting.pool_bytes) > most_pointers_of_scenario) {
    return "the pool may hold more than the " + std::to_string(most_pointers_of_scenario) +
           " blocks that this workload keeps";
  }
  const RequestScenario scenario = parameters.requests();
  if (parameters.takes_before()) {
    const std::string why = why_too_many_free(scenario.occupant_bytes(), 0, setting);
    if (!why.empty()) return why;
  }
  return why_unsupported(parameters.geometry(), std::max(scenario.max_bytes, scenario.occupant_bytes()), setting);
}

std::unique_ptr<WorkloadRun> Scenario::open(const Parameters& parameters, const RunSetting& setting,
                                            simt::Stream& stream) {
  return std::make_unique<ScenarioRun>(parameters, setting, stream);
}

}  // namespace allocbench
