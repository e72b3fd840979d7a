// One batch: which command the worker gets next, and what its answers mean for the cells.
//
// Cells are opened and verified one after the other. With state `fresh` their samples are then taken in turns, so that
// a drift of clocks or temperature hits all cells of the batch alike; with `reused` each cell's samples stay together.
// A cell whose worker dies of another cell is opened again and continues with the samples that it still needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/progress.hpp"
#include "harness/front/run/series_watch.hpp"
#include "harness/front/run/worker_session.hpp"

namespace allocbench::front {

// A cell on its way through the rounds.
struct CellRun {
  const Cell* cell = nullptr;
  bool known_to_log = false;  // its `cell` event is written
  std::uint64_t attempt = 0;  // of the last start; 0 = never started
  bool started = false;       // in this program run
  bool verified = false;
  bool ended = false;
  std::uint64_t samples = 0;     // taken in this attempt
  double used_seconds = 0;       // of its deadline
  std::uint64_t steps_left = 0;  // for the progress: verification and samples
  CellFacts facts = {};
};

// What all batches of a run share.
struct RunContext {
  WorkerSession& session;
  RunLog& log;
  SeriesWatch& watch;
  Progress& progress;
};

class BatchRunner {
 public:
  BatchRunner(const Batch& batch, std::uint64_t device_heap_bytes, std::vector<CellRun*> cells, RunContext context);

  // Runs the cells that have not ended until each has its samples of this round; after the last round they end.
  // False when the user interrupted; unfinished cells then have no end.
  bool run_round(std::uint64_t round, bool last_round);

 private:
  enum class Step { done, cell_ended, interrupted };
  using Command = Outcome (WorkerSession::*)(const Cell&, double);

  Step prepare(CellRun& run);
  Step take_sample(CellRun& run);
  Step finish(CellRun& run, bool last_round);
  Step ensure_open(CellRun& run);
  Step charge(CellRun& run, Command command, const std::string& doing, Outcome& outcome);
  Step fail(CellRun& run, const Outcome& outcome, const std::string& doing);
  void end_all(const Outcome& outcome);
  void log_start(CellRun& run);
  void end(CellRun& run, const CellEnd& end);
  bool skip_if_hopeless(CellRun& run);
  bool needs_new_worker(const CellRun& run) const;

  const Batch& batch_;
  std::uint64_t device_heap_bytes_;
  std::vector<CellRun*> cells_;
  RunContext context_;
  CellFacts allocator_facts_;
};

}  // namespace allocbench::front
