// A cell on its way through the rounds, and the lines of the log that begin and end it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/earlier_results.hpp"
#include "harness/front/run/progress.hpp"
#include "harness/front/run/time_limit.hpp"
#include "harness/front/run/trouble_watch.hpp"

namespace allocbench::front {

struct CellRun {
  const Cell* cell = nullptr;
  bool known_to_log = false;  // its `cell` event is written
  std::uint64_t attempt = 0;  // of the last start; 0 = never started
  bool started = false;       // that attempt goes on
  bool verified = false;
  std::optional<bool> uses_device_heap = {};  // as the worker said when it opened the cell; none = not asked yet
  bool ended = false;
  bool has_end = false;                                    // of an earlier attempt
  ExpectedRound expected = {};                             // as far as earlier results tell
  bool admitted = false;                                   // of expensive ones: there is time for it
  Doubt doubt = Doubt::none;                               // for which it was put off
  bool out_of_time = false;                                // never begun, until there was no time
  bool cut = false;                                        // begun, but the time was over before its least rounds
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

// What the cells of one config share, and what all configs share.
struct CellBook {
  const std::string& figure;
  RunLog& log;
  TroubleWatch& watch;
  Progress& progress;
  const TimeLimit& time;

  // Once per attempt.
  void start(CellRun& run);
  void step_done(CellRun& run);
  void end(CellRun& run, const CellEnd& end);
  // The time is over, and the cell has whole rounds: it ends with them, or stays open where they are too few.
  void stop_for_time(CellRun& run);
  // Skips a cell that was put off or is expensive, with the reason. An earlier end is kept, as it says more.
  void leave_out(CellRun& run, const std::string& why);

 private:
  void close(CellRun& run, Status status, const std::string& reason);
};

}  // namespace allocbench::front
