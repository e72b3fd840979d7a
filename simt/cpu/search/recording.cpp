#include "simt/cpu/search/recording.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace simt {
namespace {

auto key(QuestionCounter::Place place, Decision::Kind kind) {
  return std::tuple(place.lane, place.step, place.question, kind);
}

auto key(const Decision& decision) { return key({decision.lane, decision.step, decision.question}, decision.kind); }

}  // namespace

RecordingStrategy::RecordingStrategy(std::unique_ptr<Strategy> strategy, Schedule& schedule, std::uint32_t launch)
    : Strategy(GroupDraw(0, 0)), strategy_(std::move(strategy)), schedule_(schedule), launch_(launch) {}

void RecordingStrategy::record(QuestionCounter::Place place, Decision::Kind kind, std::uint64_t value) {
  schedule_.decisions.push_back({launch_, place.lane, place.step, place.question, kind, value});
}

std::size_t RecordingStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) {
  const QuestionCounter::Place place = questions_.count(asking, reason);
  const std::size_t chosen = strategy_->next(runnable, current, reason, asking);
  if (chosen != default_next(runnable, current, reason, asking)) {
    record(place, Decision::Kind::go_on_with, runnable[chosen]->rank_in_grid);
  }
  return chosen;
}

bool RecordingStrategy::leaves_at_once(Lane& lane) {
  const QuestionCounter::Place place = questions_.count_gathering(lane);
  const bool leaves = strategy_->leaves_at_once(lane);
  if (leaves) record(place, Decision::Kind::leave_at_once, 0);
  return leaves;
}

LaneMask RecordingStrategy::group(Lane& lane, LaneMask gathered) {
  const QuestionCounter::Place place = questions_.count_group(lane);
  const LaneMask group = (strategy_->group(lane, gathered) & gathered) | lane.bit();
  if (group != gathered) record(place, Decision::Kind::group, group);
  return group;
}

std::uint32_t RecordingStrategy::steps_held(Lane& lane) {
  const std::uint32_t steps = strategy_->steps_held(lane);
  if (steps != 0) record(QuestionCounter::of_access(lane), Decision::Kind::hold_store, steps);
  return steps;
}

std::uint32_t RecordingStrategy::age_of_load(Lane& lane) {
  const std::uint32_t age = strategy_->age_of_load(lane);
  if (age != 0) record(QuestionCounter::of_access(lane), Decision::Kind::read_old, age);
  return age;
}

ScriptedStrategy::ScriptedStrategy(const Schedule& schedule, std::uint32_t launch, bool recorded)
    : Strategy(GroupDraw(0, 0)), questions_(!recorded) {
  for (const Decision& decision : schedule.decisions) {
    if (decision.launch == launch) decisions_.push_back(decision);
  }
  std::stable_sort(decisions_.begin(), decisions_.end(),
                   [](const Decision& a, const Decision& b) { return key(a) < key(b); });
}

const Decision* ScriptedStrategy::find(QuestionCounter::Place place, Decision::Kind kind) const {
  const auto wanted = key(place, kind);
  const auto found =
      std::lower_bound(decisions_.begin(), decisions_.end(), wanted,
                       [](const Decision& decision, const auto& other) { return key(decision) < other; });
  return found != decisions_.end() && key(*found) == wanted ? &*found : nullptr;
}

std::size_t ScriptedStrategy::next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) {
  const Decision* decision = find(questions_.count(asking, reason), Decision::Kind::go_on_with);
  if (decision != nullptr) {
    const auto found = std::find_if(runnable.begin(), runnable.end(),
                                    [&](const Lane* lane) { return lane->rank_in_grid == decision->value; });
    if (found != runnable.end()) return static_cast<std::size_t>(found - runnable.begin());
  }
  return default_next(runnable, current, reason, asking);
}

bool ScriptedStrategy::leaves_at_once(Lane& lane) {
  return find(questions_.count_gathering(lane), Decision::Kind::leave_at_once) != nullptr;
}

LaneMask ScriptedStrategy::group(Lane& lane, LaneMask gathered) {
  const Decision* decision = find(questions_.count_group(lane), Decision::Kind::group);
  return decision != nullptr ? gathered & static_cast<LaneMask>(decision->value) : gathered;
}

bool ScriptedStrategy::has(Decision::Kind kind) const {
  return std::any_of(decisions_.begin(), decisions_.end(),
                     [=](const Decision& decision) { return decision.kind == kind; });
}

bool ScriptedStrategy::holds_stores() const { return has(Decision::Kind::hold_store); }

bool ScriptedStrategy::reads_old_values() const { return has(Decision::Kind::read_old); }

std::uint32_t ScriptedStrategy::age_of_load(Lane& lane) {
  const Decision* decision = find(QuestionCounter::of_access(lane), Decision::Kind::read_old);
  return decision != nullptr ? static_cast<std::uint32_t>(decision->value) : 0;
}

std::uint32_t ScriptedStrategy::steps_held(Lane& lane) {
  const Decision* decision = find(QuestionCounter::of_access(lane), Decision::Kind::hold_store);
  return decision != nullptr ? static_cast<std::uint32_t>(decision->value) : 0;
}

std::string ScriptedStrategy::description() const {
  return "scripted with " + std::to_string(decisions_.size()) + " decisions";
}

}  // namespace simt
