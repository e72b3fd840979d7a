// These strategies wrap a strategy that draws from a seed. HoldingStrategy holds stores back at random
// (store_buffer.hpp), and AgeingStrategy lets loads read old values (old_values.hpp).
#pragma once

#include <memory>
#include <utility>

#include "simt/cpu/strategy.hpp"

namespace simt {

// AroundStrategy takes all decisions from the wrapped strategy, except those about held stores and old values.
class AroundStrategy : public Strategy {
 public:
  explicit AroundStrategy(std::unique_ptr<Strategy> strategy)
      : Strategy(GroupDraw(0, 0)), strategy_(std::move(strategy)) {}
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override {
    return strategy_->next(runnable, current, reason, asking);
  }
  bool leaves_at_once(Lane& lane) override { return strategy_->leaves_at_once(lane); }
  LaneMask group(Lane& lane, LaneMask gathered) override { return strategy_->group(lane, gathered); }
  void met(Warp& warp, LaneMask members) override { strategy_->met(warp, members); }
  std::string description() const override { return strategy_->description(); }

 private:
  const std::unique_ptr<Strategy> strategy_;
};

class HoldingStrategy final : public AroundStrategy {
 public:
  // Largest number of steps for which a store is held back. A longer time would rarely show anything new and would
  // delay the lanes that wait for the store.
  static constexpr std::uint32_t longest = 8;

  HoldingStrategy(std::unique_ptr<Strategy> strategy, std::uint64_t seed);
  bool holds_stores() const override { return true; }
  std::uint32_t steps_held(Lane& lane) override;
  std::string description() const override;

 private:
  Random random_;
  std::uint32_t interval_;  // one of this many stores is held
};

class AgeingStrategy final : public AroundStrategy {
 public:
  AgeingStrategy(std::unique_ptr<Strategy> strategy, std::uint64_t seed);
  bool reads_old_values() const override { return true; }
  std::uint32_t age_of_load(Lane& lane) override;
  std::string description() const override;

 private:
  Random random_;
  std::uint32_t interval_;  // one of this many loads that may read an old value reads one
};

}  // namespace simt
