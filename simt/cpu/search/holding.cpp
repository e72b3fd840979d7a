#include "simt/cpu/search/holding.hpp"

#include <utility>

namespace simt {

// Drawn apart from lanes and groups: whether stores are held changes nothing else that a seed decides.
HoldingStrategy::HoldingStrategy(std::unique_ptr<Strategy> strategy, std::uint64_t seed)
    : Strategy(GroupDraw(0, 0)), strategy_(std::move(strategy)), random_(seed ^ 0x57042eu) {
  interval_ = 1u << random_.below(4);
}

std::size_t HoldingStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) {
  return strategy_->next(runnable, current, reason, asking);
}

std::uint32_t HoldingStrategy::steps_held(Lane&) {
  return random_.below(interval_) == 0 ? 1 + random_.below(longest) : 0;
}

std::string HoldingStrategy::description() const {
  return strategy_->description() + ", holds 1/" + std::to_string(interval_) + " of the stores";
}

}  // namespace simt
