#include "simt/cpu/strategy.hpp"

#include <algorithm>

namespace simt {

RandomStrategy::RandomStrategy(std::uint64_t seed, std::uint32_t interval) : random_(seed), interval_(interval) {
  if (interval_ == 0) interval_ = 1u << random_.below(7);
}

std::size_t RandomStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason) {
  const auto count = static_cast<std::uint32_t>(runnable.size());
  switch (reason) {
    case Reason::atomic:
    case Reason::collective:
      if (interval_ != 1 && random_.below(interval_) != 0) return current;
      break;
    case Reason::spin:
    case Reason::gather:
      // Anyone but the lane that has nothing to do.
      if (count > 1) return (current + 1 + random_.below(count - 1)) % count;
      break;
    case Reason::start:
    case Reason::blocked:
    case Reason::exit:
      break;
  }
  return random_.below(count);
}

std::string RandomStrategy::description() const { return "random 1/" + std::to_string(interval_); }

RoundRobinStrategy::RoundRobinStrategy(std::uint32_t slice) : slice_(std::max(slice, 1u)), left_(slice_) {}

std::size_t RoundRobinStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason) {
  const bool may_stay = reason == Reason::atomic || reason == Reason::collective;
  if (may_stay && --left_ != 0) return current;
  left_ = slice_;
  // A lane that left gave its place to the last one, which must not lose its turn.
  const bool left = reason == Reason::blocked || reason == Reason::exit || reason == Reason::start;
  const std::size_t next = left ? current : current + 1;
  return next < runnable.size() ? next : 0;
}

std::string RoundRobinStrategy::description() const { return "round_robin slice " + std::to_string(slice_); }

std::unique_ptr<Strategy> make_strategy(const ExecutorOptions& options) {
  if (options.mode == ExecutorMode::threads || options.strategy == StrategyKind::round_robin) {
    return std::make_unique<RoundRobinStrategy>(options.slice);
  }
  return std::make_unique<RandomStrategy>(options.seed, options.preemption_interval);
}

}  // namespace simt
