// BatchRunner measures one batch: it chooses the worker's next command and applies the worker's answers to the cells.
//
// In a round the cells are measured one after the other. Each cell is opened, sampled, verified if this is its first
// round, and closed. One run of the worker's measuring loop can take several samples. Because of the rounds, a drift of
// clocks or temperature affects all cells in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/front/plan/plan.hpp"
#include "harness/front/run/cell_run.hpp"
#include "harness/front/workers/worker_session.hpp"

namespace allocbench::front {

class BatchRunner {
 public:
  // `follower` is the next batch that will probably need another worker; null means unknown.
  BatchRunner(const Batch& batch, std::vector<CellRun*> cells, WorkerSession& session, CellBook book,
              const Batch* follower);

  // Measures one round of the cells for which `is_due` is true. Afterwards each of these cells has its samples of the
  // round, was deferred or has ended, unless the time is over or the user interrupted. The worker keeps running for the
  // next batch. Returns false if the user interrupted.
  bool run_round(const std::function<bool(const CellRun&)>& is_due);

 private:
  enum class Step { done, cell_ended, out_of_time, interrupted };

  Step run_cell(CellRun& run);
  Step begin(CellRun& run);
  Step take_samples(CellRun& run);
  Step verify(CellRun& run);
  Step finish(CellRun& run);
  Step ensure_open(CellRun& run);
  Step open(CellRun& run);
  Step judge(CellRun& run, const Outcome& outcome, const std::string& doing);
  Step fail(CellRun& run, const Outcome& outcome, const std::string& doing);
  void end_all(const Outcome& outcome);
  std::string while_in(const std::string& doing) const;
  SampleLimits sample_limits(const CellRun& run) const;
  VerifyLimits verify_limits(const CellRun& run) const;
  double left_of_deadline(const CellRun& run) const { return run.cell->deadline_seconds - run.used_seconds; }
  double set_up_limit() const;
  bool needs_heap(const CellRun& run) const;
  bool needs_own_process(const CellRun& run) const;
  bool needs_process_per_sample(const CellRun& run) const;
  bool worker_suits(const CellRun& run) const;
  const Batch* next_to_start(const CellRun& run) const;

  const Batch& batch_;
  std::vector<CellRun*> cells_;
  WorkerSession& session_;
  CellBook book_;
  const Batch* follower_;
};

}  // namespace allocbench::front
