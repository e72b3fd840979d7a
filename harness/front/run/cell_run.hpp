// A cell on its way through the rounds, and the lines of the log that begin and end it.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/progress.hpp"
#include "harness/front/run/series_watch.hpp"

namespace allocbench::front {

struct CellRun {
  const Cell* cell = nullptr;
  bool known_to_log = false;  // its `cell` event is written
  std::uint64_t attempt = 0;  // of the last start; 0 = never started
  bool started = false;       // that attempt goes on
  bool verified = false;
  bool ended = false;
  bool put_off = false;                                    // hopeless: measured after all other cells
  std::vector<std::vector<protocol::Sample>> rounds = {};  // whole ones
  std::vector<protocol::Sample> running = {};              // of the round that runs
  double used_seconds = 0;                                 // of this round's deadline
  double deadline_seconds = 0;                             // of this round
  double wall_seconds = 0;                                 // of the whole rounds
  std::uint64_t steps_left = 0;                            // for the progress: verification and rounds
  CellFacts facts = {};
};

// A cell that the log does not know (null), or knows from an earlier run of this config: its rounds go on where they
// come from `origin` too.
CellRun make_cell_run(const Cell& cell, const CellHistory* known, const Origin& origin);

// What the cells of one config share.
struct CellBook {
  RunLog& log;
  SeriesWatch& watch;
  Progress& progress;

  // Once per attempt.
  void start(CellRun& run);
  void step_done(CellRun& run);
  void end(CellRun& run, const CellEnd& end);
};

}  // namespace allocbench::front
