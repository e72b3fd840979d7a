// ExploringStrategy follows the current path of an Exploration through one launch.
#pragma once

#include <vector>

#include "simt/cpu/search/exploration.hpp"
#include "simt/cpu/strategy.hpp"

namespace simt {

class ExploringStrategy final : public Strategy {
 public:
  // With `holds`, every store can also be held back, which counts as a preemption.
  ExploringStrategy(Exploration& exploration, std::uint32_t launch, bool holds);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  bool holds_stores() const override { return explores_ && holds_; }
  std::uint32_t steps_held(Lane& lane) override;
  std::string description() const override;

 private:
  Exploration& exploration_;
  const bool explores_;
  const bool holds_;
  std::vector<std::size_t> answers_;
};

}  // namespace simt
