#include "simt/cpu/strategy.hpp"

#include <algorithm>

#include "simt/cpu/search/conflicts.hpp"
#include "simt/cpu/search/exploring.hpp"
#include "simt/cpu/search/holding.hpp"
#include "simt/cpu/search/lockstep.hpp"
#include "simt/cpu/search/pct.hpp"
#include "simt/cpu/search/recording.hpp"

namespace simt {
namespace {

// Groups are drawn separately from lanes, so that a strategy without random lanes still draws hostile groups.
GroupDraw groups_of(std::uint64_t seed, std::uint32_t rarity) { return {seed ^ 0x5eedu, rarity}; }

// Draws a strategy. The weights follow from how often each strategy alone exposes planted bugs
// (benchmarks/schedule_search). No single strategy or interval finds all of them, but random preemption finds most.
// Round robin and lockstep are rare because they make few schedules. They are included because they reliably let lanes
// advance together.
ExecutorOptions draw_swarm_member(ExecutorOptions options, std::uint64_t seed) {
  Random random(seed ^ 0x5a4du);
  const std::uint32_t draw = random.below(16);
  if (draw < 10) {
    options.strategy = StrategyKind::random;
    options.preemption_interval = 1u << random.below(7);
  } else if (draw < 13) {
    options.strategy = StrategyKind::pct;
    options.pct_depth = 2 + random.below(3);
  } else if (draw < 14) {
    options.strategy = StrategyKind::round_robin;
    options.slice = 1u << random.below(6);
  } else {
    options.strategy = StrategyKind::lockstep;
  }
  // Held stores are drawn separately, because bugs with and without held stores appear with any of these strategies.
  options.hold_stores = options.hold_stores || (!options.read_old_values && Random(seed ^ 0x570eu).below(4) == 0);
  return options;
}

std::unique_ptr<Strategy> make_plain_strategy(const ExecutorOptions& options, std::uint64_t seed,
                                              std::uint32_t launch) {
  switch (options.strategy) {
    case StrategyKind::random:
      return std::make_unique<RandomStrategy>(seed, options.preemption_interval);
    case StrategyKind::round_robin:
      return std::make_unique<RoundRobinStrategy>(options.slice, groups_of(seed, 1));
    case StrategyKind::pct:
      return std::make_unique<PctStrategy>(seed, options.pct_depth, options.expected_steps, groups_of(seed, 1));
    case StrategyKind::lockstep:
      return std::make_unique<LockstepStrategy>(seed, groups_of(seed, 16));
    case StrategyKind::conflicts:
      return std::make_unique<ConflictsStrategy>(seed, groups_of(seed, 1));
    case StrategyKind::swarm:
      break;
    case StrategyKind::scripted:
      return std::make_unique<ScriptedStrategy>(*options.script, launch, options.record);
    case StrategyKind::exploring:
      return std::make_unique<ExploringStrategy>(*options.exploration, launch, options.hold_stores);
  }
  return nullptr;
}

std::unique_ptr<Strategy> make_seeded_strategy(ExecutorOptions options, std::uint64_t seed, std::uint32_t launch) {
  if (options.strategy == StrategyKind::swarm) options = draw_swarm_member(options, seed);
  auto strategy = make_plain_strategy(options, seed, launch);
  const bool draws = options.strategy != StrategyKind::scripted && options.strategy != StrategyKind::exploring;
  if (options.hold_stores && draws) return std::make_unique<HoldingStrategy>(std::move(strategy), seed);
  if (options.read_old_values && draws) return std::make_unique<AgeingStrategy>(std::move(strategy), seed);
  return strategy;
}

}  // namespace

LaneMask GroupDraw::draw(LaneMask gathered) {
  if (rarity_ == 0) return gathered;
  const std::uint32_t draw = random_.below(4 * rarity_);
  if (draw == 0) return 0;
  return draw == 1 ? gathered & static_cast<LaneMask>(random_.next()) : gathered;
}

bool Strategy::leaves_at_once(Lane&) { return groups_.leaves_at_once(); }

LaneMask Strategy::group(Lane&, LaneMask gathered) { return groups_.draw(gathered); }

void Strategy::met(Warp&, LaneMask) {}

RandomStrategy::RandomStrategy(std::uint64_t seed, std::uint32_t interval)
    : Strategy(groups_of(seed, 1)), random_(seed), interval_(interval) {
  if (interval_ == 0) interval_ = 1u << random_.below(7);
}

std::size_t RandomStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane*) {
  const auto count = static_cast<std::uint32_t>(runnable.size());
  switch (reason) {
    case Reason::atomic:
    case Reason::collective:
      if (interval_ != 1 && random_.below(interval_) != 0) return current;
      break;
    case Reason::spin:
    case Reason::gather:
      // Any lane but the waiting lane may follow.
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

RoundRobinStrategy::RoundRobinStrategy(std::uint32_t slice, GroupDraw groups)
    : Strategy(groups), slice_(std::max(slice, 1u)), left_(slice_) {}

std::size_t RoundRobinStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane*) {
  const bool may_stay = reason == Reason::atomic || reason == Reason::collective;
  if (may_stay && --left_ != 0) return current;
  left_ = slice_;
  // The last lane has moved to the place of a lane that left, and must not lose its turn.
  const bool left = reason == Reason::blocked || reason == Reason::exit || reason == Reason::start;
  const std::size_t next = left ? current : current + 1;
  return next < runnable.size() ? next : 0;
}

std::string RoundRobinStrategy::description() const { return "round_robin slice " + std::to_string(slice_); }

std::unique_ptr<Strategy> make_strategy(const ExecutorOptions& options, std::uint64_t launch_seed, std::uint32_t launch,
                                        Schedule& recorded) {
  if (options.mode == ExecutorMode::threads) {
    return std::make_unique<RoundRobinStrategy>(options.slice, groups_of(launch_seed, 0));
  }
  auto strategy = make_seeded_strategy(options, launch_seed, launch);
  if (!options.record) return strategy;
  return std::make_unique<RecordingStrategy>(std::move(strategy), recorded, launch);
}

std::unique_ptr<Strategy> make_fair_strategy() { return std::make_unique<RoundRobinStrategy>(1, GroupDraw(0, 0)); }

}  // namespace simt
