// Any strategy, with stores held back at random (store_buffer.hpp).
#pragma once

#include <memory>

#include "simt/cpu/strategy.hpp"

namespace simt {

class HoldingStrategy final : public Strategy {
 public:
  // Most steps for which a store is held. More would rarely show anything new and would delay the lanes that wait for
  // it.
  static constexpr std::uint32_t longest = 8;

  HoldingStrategy(std::unique_ptr<Strategy> strategy, std::uint64_t seed);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  bool leaves_at_once(Lane& lane) override { return strategy_->leaves_at_once(lane); }
  LaneMask group(Lane& lane, LaneMask gathered) override { return strategy_->group(lane, gathered); }
  bool holds_stores() const override { return true; }
  std::uint32_t steps_held(Lane& lane) override;
  void met(Warp& warp, LaneMask members) override { strategy_->met(warp, members); }
  std::string description() const override;

 private:
  const std::unique_ptr<Strategy> strategy_;
  Random random_;
  std::uint32_t interval_;  // one of so many stores is held
};

}  // namespace simt
