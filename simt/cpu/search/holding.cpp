#include "simt/cpu/search/holding.hpp"

#include <utility>

namespace simt {

// These random numbers are drawn separately from those for lanes and groups, so that holding stores back changes no
// other decision of a seed.
HoldingStrategy::HoldingStrategy(std::unique_ptr<Strategy> strategy, std::uint64_t seed)
    : AroundStrategy(std::move(strategy)), random_(seed ^ 0x57042eu) {
  interval_ = 1u << random_.below(4);
}

std::uint32_t HoldingStrategy::steps_held(Lane&) {
  return random_.below(interval_) == 0 ? 1 + random_.below(longest) : 0;
}

std::string HoldingStrategy::description() const {
  return AroundStrategy::description() + ", holds 1/" + std::to_string(interval_) + " of the stores";
}

AgeingStrategy::AgeingStrategy(std::unique_ptr<Strategy> strategy, std::uint64_t seed)
    : AroundStrategy(std::move(strategy)), random_(seed ^ 0x01dau) {
  interval_ = 2u << random_.below(4);
}

std::uint32_t AgeingStrategy::age_of_load(Lane&) {
  constexpr std::uint32_t oldest = 8;
  return random_.below(interval_) == 0 ? 1 + random_.below(oldest) : 0;
}

std::string AgeingStrategy::description() const {
  return AroundStrategy::description() + ", 1/" + std::to_string(interval_) + " of the loads read old values";
}

}  // namespace simt
