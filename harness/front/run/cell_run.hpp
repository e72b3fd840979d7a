// The progress of a cell through the rounds, and the events that begin and end it.
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
  waiting,   // for its next round
  deferred,  // used up its first, short deadline; tried again after all others
  ended,     // has its end in the log
  left       // gets no more rounds, because the time of the run is over
};

struct CellRun {
  const Cell* cell = nullptr;
  bool is_isolated = false;  // only a new process makes its heap new
  CellState state = CellState::waiting;
  std::optional<Status> earlier = {};  // end of an attempt of an earlier run, unless it was left out for lack of time

  // State of the current attempt.
  bool in_log = false;        // the cell itself
  std::uint64_t attempt = 0;  // number of the last start
  bool started = false;
  bool verified = false;
  CellFacts facts = {};
  std::optional<bool> uses_device_heap = {};               // as reported when the worker opened the cell
  std::vector<std::vector<protocol::Sample>> rounds = {};  // whole ones
  double wall_seconds = 0;                                 // of these

  // Samples of the current round.
  std::vector<protocol::Sample> running = {};
  double used_seconds = 0;  // of its deadline

  std::uint64_t steps_left = 0;     // number of steps for the progress: verification and rounds
  std::optional<Place> place = {};  // of the next step, as the pass began

  bool is_open() const { return state == CellState::waiting || state == CellState::deferred; }
  // Mean time of its whole rounds, without the verification.
  double seconds_of_next_round() const;
};

// A cell that is not in the log (null), or is there from an earlier run of this config. Its rounds continue if they
// come from `origin`.
CellRun make_cell_run(const Cell& cell, const CellHistory* known, const Origin& origin);

// Data that the cells of one config share, and data that all configs share.
struct CellBook {
  const std::string& figure;
  RunLog& log;
  Forecaster& forecaster;
  Progress& progress;
  const TimeLimit& time;

  // Once per attempt.
  void start(CellRun& run);
  void step_done(CellRun& run);
  void end(CellRun& run, const CellEnd& end);
  // The first, short deadline was too short.
  void defer(CellRun& run, const std::string& reason, double seconds);
  // The time of the run is over. A cell with enough rounds for an interval ends. A cell with fewer rounds stays open. A
  // cell without a round is skipped, but keeps the end of an earlier attempt, which has more information.
  void leave(CellRun& run);

 private:
  void close(CellRun& run, CellState state);
};

}  // namespace allocbench::front
