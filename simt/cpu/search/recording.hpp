// RecordingStrategy records the decisions of another strategy, and ScriptedStrategy replays such records.
#pragma once

#include <memory>
#include <vector>

#include "simt/cpu/search/default_rule.hpp"
#include "simt/cpu/search/schedule.hpp"
#include "simt/cpu/strategy.hpp"

namespace simt {

class RecordingStrategy final : public Strategy {
 public:
  RecordingStrategy(std::unique_ptr<Strategy> strategy, Schedule& schedule, std::uint32_t launch);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  bool leaves_at_once(Lane& lane) override;
  LaneMask group(Lane& lane, LaneMask gathered) override;
  bool holds_stores() const override { return strategy_->holds_stores(); }
  std::uint32_t steps_held(Lane& lane) override;
  bool reads_old_values() const override { return strategy_->reads_old_values(); }
  std::uint32_t age_of_load(Lane& lane) override;
  void met(Warp& warp, LaneMask members) override { strategy_->met(warp, members); }
  std::string description() const override { return strategy_->description(); }

 private:
  void record(QuestionCounter::Place place, Decision::Kind kind, std::uint64_t value);

  const std::unique_ptr<Strategy> strategy_;
  Schedule& schedule_;
  const std::uint32_t launch_;
  QuestionCounter questions_{true};
};

// ScriptedStrategy follows the default rule where the schedule has no decision or chooses a lane that is not
// runnable. The latter happens in a schedule that is being shortened, because its remaining decisions may not fit any
// more.
class ScriptedStrategy final : public Strategy {
 public:
  // `recorded` means that a RecordingStrategy asks this one.
  ScriptedStrategy(const Schedule& schedule, std::uint32_t launch, bool recorded);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  bool leaves_at_once(Lane& lane) override;
  LaneMask group(Lane& lane, LaneMask gathered) override;
  bool holds_stores() const override;
  std::uint32_t steps_held(Lane& lane) override;
  bool reads_old_values() const override;
  std::uint32_t age_of_load(Lane& lane) override;
  std::string description() const override;

 private:
  bool has(Decision::Kind kind) const;
  const Decision* find(QuestionCounter::Place place, Decision::Kind kind) const;

  std::vector<Decision> decisions_;  // decisions of this launch, ordered by place
  QuestionCounter questions_;
};

}  // namespace simt
