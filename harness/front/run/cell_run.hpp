// CellRun is the progress of a cell in a run: its state, its rounds and its current attempt. CellBook writes to the log
// when a cell begins, is deferred or ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/common/time_limit.hpp"
#include "harness/front/log/run_history.hpp"
#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/forecast.hpp"
#include "harness/front/run/order.hpp"
#include "harness/front/run/progress.hpp"
#include "harness/front/run/stopping.hpp"

namespace allocbench::front {

enum class CellState {
  waiting,   // cells that wait for their next round
  deferred,  // cells that exceeded the short deadline, or certainly would; they come after all others
  ended,     // cells whose end is in the log
  left       // cells that get no more rounds, because the time of the run is over
};

struct CellRun {
  const Cell* cell = nullptr;
  bool is_isolated = false;  // whether each of its rounds needs its own process
  CellState state = CellState::waiting;
  // Whether an earlier run ended an attempt, and did not leave the cell out for lack of time or memory.
  bool has_earlier_end = false;

  // These members are the state of the current attempt.
  bool in_log = false;        // whether the log has the cell
  std::uint64_t attempt = 0;  // number of the last start
  bool started = false;
  CellFacts facts = {};
  std::optional<bool> uses_device_heap = {};  // worker's report when it opened the cell
  SampledRounds rounds = {};                  // the whole rounds; the first includes the verification
  double wall_seconds = 0;                    // wall time of the whole rounds
  double seconds_of_next_round = 0;           // forecast; 0 without a whole round

  // Samples of the current round.
  std::vector<protocol::Sample> running = {};
  double used_seconds = 0;  // used part of the cell's deadline
  Fill fill = {};           // fill of the pool, if the worker reported stages

  std::optional<Place> place = {};  // place of the next step when the pass began
  std::size_t sharing = 1;          // cells that can share a fill of the pool in this pass

  bool is_open() const { return state == CellState::waiting || state == CellState::deferred; }
  // Returns the number of steps (Progress) up to the last round.
  std::uint64_t steps_left() const;
  // Adds the current round to the whole rounds.
  void add_round();
};

// Makes the progress of a cell. `known` is its state in the log of an earlier run of this config, or null. The cell
// keeps its whole rounds if it is verified and has no end, and if they come from `origin`.
CellRun make_cell_run(const Cell& cell, const CellHistory* known, const Origin& origin);

// Data that the cells of one config share, and data that all configs share.
struct CellBook {
  const std::string& figure;
  RunLog& log;
  Forecaster& forecaster;
  Progress& progress;
  const TimeLimit& time;

  // Records the start of an attempt, unless the attempt has already started.
  void start(CellRun& run);
  void end(CellRun& run, const CellEnd& end);
  // Defers a cell because its first round exceeded its short deadline or, without `tried`, because the fill of the pool
  // certainly would.
  void defer(CellRun& run, const std::string& reason, bool tried);
  // Leaves a cell because the time of the run is over. The cell ends if it has `least_rounds` rounds. A cell without a
  // round is skipped, unless an earlier attempt has an end, which then remains.
  void leave(CellRun& run);
};

}  // namespace allocbench::front
