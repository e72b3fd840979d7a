#include "simt/cpu/search/conflicts.hpp"

#include <algorithm>
#include <cstddef>

#include "simt/cpu/lane.hpp"

namespace simt {
namespace {

constexpr std::uint32_t rival_first = 4;  // one of this many meetings lets the postponed lane continue first
constexpr std::uint32_t gives_up = 256;   // one of this many accesses ends the wait of a lane
constexpr std::uint32_t held_up = 8;      // one of this many hints of a waiting lane ends the wait of a lane
constexpr std::ptrdiff_t most_postponed = 2;

// The strategy keeps this state in the lane.
bool postponed(const Lane& lane) { return lane.strategy_state != 0; }

}  // namespace

ConflictsStrategy::ConflictsStrategy(std::uint64_t seed, GroupDraw groups)
    : Strategy(groups), random_(seed), interval_(2u << random_.below(5)) {}

template <class Wanted>
std::size_t ConflictsStrategy::any_of(std::span<Lane* const> runnable, Wanted wanted) {
  std::size_t chosen = runnable.size();
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < runnable.size(); ++i) {
    if (wanted(*runnable[i]) && random_.below(++found) == 0) chosen = i;
  }
  return chosen;
}

std::size_t ConflictsStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) {
  if (reason == Reason::collective) return current;
  if (reason != Reason::atomic || asking == nullptr) {
    const bool waits = reason == Reason::spin || reason == Reason::gather;
    if (waits && random_.below(held_up) == 0) resume_one(runnable);
    return among_others(runnable, waits ? asking : nullptr);
  }
  asking->strategy_state = 0;
  const std::size_t rival = any_of(runnable, [&](const Lane& lane) {
    return postponed(lane) && lane.operation == Operation::atomic && lane.accessed == asking->accessed;
  });
  if (rival != runnable.size()) {
    if (random_.below(rival_first) != 0) return current;
    runnable[rival]->strategy_state = 0;
    asking->strategy_state = 1;
    return rival;
  }
  if (random_.below(gives_up) == 0) resume_one(runnable);
  if (random_.below(interval_) != 0) return current;
  if (std::count_if(runnable.begin(), runnable.end(), [](const Lane* lane) { return postponed(*lane); }) >=
      most_postponed) {
    return among_others(runnable, asking);
  }
  asking->strategy_state = 1;
  return among_others(runnable, asking);
}

void ConflictsStrategy::resume_one(std::span<Lane* const> runnable) {
  const std::size_t tired = any_of(runnable, postponed);
  if (tired != runnable.size()) runnable[tired]->strategy_state = 0;
}

// Chooses a lane other than the waiting one. Lanes that are not postponed come first. If there is none, a postponed
// lane ends its wait.
std::size_t ConflictsStrategy::among_others(std::span<Lane* const> runnable, const Lane* waiting) {
  std::size_t chosen = any_of(runnable, [&](const Lane& lane) { return &lane != waiting && !postponed(lane); });
  if (chosen == runnable.size()) chosen = any_of(runnable, [&](const Lane& lane) { return &lane != waiting; });
  if (chosen == runnable.size()) chosen = 0;  // the waiting lane is the only one
  runnable[chosen]->strategy_state = 0;
  return chosen;
}

std::string ConflictsStrategy::description() const { return "conflicts 1/" + std::to_string(interval_); }

}  // namespace simt
