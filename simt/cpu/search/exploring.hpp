// Takes the present path of an Exploration through one launch.
#pragma once

#include <vector>

#include "simt/cpu/search/exploration.hpp"
#include "simt/cpu/strategy.hpp"

namespace simt {

class ExploringStrategy final : public Strategy {
 public:
  ExploringStrategy(Exploration& exploration, std::uint32_t launch);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  std::string description() const override;

 private:
  Exploration& exploration_;
  const bool explores_;
  std::vector<std::size_t> answers_;
};

}  // namespace simt
