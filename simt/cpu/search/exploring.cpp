#include "simt/cpu/search/exploring.hpp"

#include <algorithm>

#include "simt/cpu/lane.hpp"
#include "simt/cpu/search/default_rule.hpp"
#include "simt/cpu/search/holding.hpp"

namespace simt {

ExploringStrategy::ExploringStrategy(Exploration& exploration, std::uint32_t launch, bool holds)
    : Strategy(GroupDraw(0, 0)), exploration_(exploration), explores_(exploration.explores(launch)), holds_(holds) {}

std::size_t ExploringStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) {
  const std::size_t usual = default_next(runnable, current, reason, asking);
  if (!explores_ || reason == Reason::gather || runnable.size() == 1) return usual;
  answers_.clear();
  for (std::size_t i = 0; i < runnable.size(); ++i) {
    const bool spins_on = reason == Reason::spin && i == current;
    if (i != usual && !spins_on) answers_.push_back(i);
  }
  std::sort(answers_.begin(), answers_.end(),
            [&](std::size_t a, std::size_t b) { return runnable[a]->rank_in_grid < runnable[b]->rank_in_grid; });
  const bool free = reason == Reason::blocked || reason == Reason::exit || reason == Reason::start;
  const std::uint64_t place = asking == nullptr ? 0 : mix64(asking->rank_in_grid) + asking->site.line;
  const std::uint64_t witness =
      mix64(place ^ (runnable[usual]->rank_in_grid << 8)) + static_cast<std::uint64_t>(reason);
  const std::uint32_t answer = exploration_.choose(static_cast<std::uint32_t>(answers_.size()) + 1, !free, witness);
  return answer == 0 ? usual : answers_[answer - 1];
}

std::uint32_t ExploringStrategy::steps_held(Lane& lane) {
  if (!holds_stores()) return 0;
  const std::uint64_t witness = mix64(~lane.rank_in_grid) + lane.site.line;
  return exploration_.choose(2, true, witness) == 0 ? 0 : HoldingStrategy::longest;
}

std::string ExploringStrategy::description() const {
  return "exploring path " + std::to_string(exploration_.runs()) + " with " +
         std::to_string(exploration_.preemptions()) + " preemptions";
}

}  // namespace simt
