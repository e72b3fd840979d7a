// One batch: which command the worker gets next, and what its answers mean for the cells.
//
// Cells have their turn one after the other: opened, verified in their first round, sampled, closed. The samples of a
// turn are runs of the worker's measuring loop; rounds make a drift of clocks or temperature hit all cells alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/front/plan/plan.hpp"
#include "harness/front/run/cell_run.hpp"
#include "harness/front/run/worker_session.hpp"

namespace allocbench::front {

// What to do with cells whose series has timed out at a smaller value.
enum class Hopeless { put_off, measure };

class BatchRunner {
 public:
  BatchRunner(const Batch& batch, std::vector<CellRun*> cells, WorkerSession& session, CellBook book);

  // One round of the cells, none of which has ended: each has its samples of the round then, has failed or was put off.
  // Leaves the worker running for the next batch. False when the user interrupted.
  bool run_round(Hopeless hopeless);

 private:
  enum class Step { done, cell_ended, interrupted };
  using Command = Outcome (WorkerSession::*)(const Cell&, double);

  Step prepare(CellRun& run, Hopeless hopeless);
  Step verify(CellRun& run);
  Step run_cell(CellRun& run, Hopeless hopeless);
  Step take_samples(CellRun& run, std::uint64_t count);
  Step finish(CellRun& run);
  Step ensure_open(CellRun& run);
  Step charge(CellRun& run, Command command, const std::string& doing, Outcome& outcome);
  Step judge(CellRun& run, const Outcome& outcome, const std::string& doing);
  Step fail(CellRun& run, const Outcome& outcome, const std::string& doing);
  void end_all(const Outcome& outcome);
  bool skip_if_hopeless(CellRun& run);
  void shorten_if_hopeless(CellRun& run);
  double set_up_limit(const CellRun& run) const;
  bool needs_process_per_sample(const CellRun& run) const;

  const Batch& batch_;
  std::vector<CellRun*> cells_;
  WorkerSession& session_;
  CellBook book_;
  CellFacts allocator_facts_;
};

}  // namespace allocbench::front
