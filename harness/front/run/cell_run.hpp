// CellRun is the progress of a cell through the rounds, with the events that begin and end it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/forecast.hpp"
#include "harness/front/run/order.hpp"
#include "harness/front/run/progress.hpp"
#include "harness/front/run/time_limit.hpp"

namespace allocbench::front {

enum class CellState {
  waiting,   // cells that wait for their next round
  deferred,  // cells that exceeded the short deadline and are tried again after all others
  ended,     // cells whose end is in the log
  left       // cells that get no more rounds, because the time of the run is over
};

struct CellRun {
  const Cell* cell = nullptr;
  bool is_isolated = false;  // whether its heap is new only in a new process
  CellState state = CellState::waiting;
  std::optional<Status> earlier =
      {};  // end of an attempt in an earlier run, unless the cell was left out for lack of time

  // These members are the state of the current attempt.
  bool in_log = false;        // whether the log has the cell
  std::uint64_t attempt = 0;  // number of the last start
  bool started = false;
  bool verified = false;
  CellFacts facts = {};
  std::optional<bool> uses_device_heap = {};               // worker's report when it opened the cell
  std::vector<std::vector<protocol::Sample>> rounds = {};  // samples of the whole rounds
  double wall_seconds = 0;                                 // wall time of the whole rounds
  double seconds_of_next_round = 0;  // shortest of these, without verification and fill; 0 before the first one

  // Samples of the current round.
  std::vector<protocol::Sample> running = {};
  double used_seconds = 0;  // used part of the cell's deadline
  Fill fill = {};           // fill of the pool, if the worker reported stages

  std::uint64_t steps_left = 0;     // steps that the progress still counts: verification and rounds
  std::optional<Place> place = {};  // place of the next step when the pass began
  std::size_t sharing = 1;          // cells that can share a fill of the pool in this pass

  bool is_open() const { return state == CellState::waiting || state == CellState::deferred; }
  // Adds the current round to the whole ones.
  void add_round();
};

// Makes a cell that is not in the log (`known` is null) or is there from an earlier run of this config. Its rounds
// continue if they come from `origin`.
CellRun make_cell_run(const Cell& cell, const CellHistory* known, const Origin& origin);

// Data that the cells of one config share, and data that all configs share.
struct CellBook {
  const std::string& figure;
  RunLog& log;
  Forecaster& forecaster;
  Progress& progress;
  const TimeLimit& time;

  // Records the start of an attempt. Called once per attempt.
  void start(CellRun& run);
  void step_done(CellRun& run);
  void end(CellRun& run, const CellEnd& end);
  // Records that the short deadline of the first round was too short. It took `seconds`, some of it in a fill.
  void defer(CellRun& run, const std::string& reason, double seconds);
  // Leaves a cell because the time of the run is over. A cell with enough rounds for an interval ends. A cell with
  // fewer rounds stays open. A cell without a round is skipped, but keeps the end of an earlier attempt, which has more
  // information.
  void leave(CellRun& run);

 private:
  void close(CellRun& run, CellState state);
};

}  // namespace allocbench::front
