// BatchRunner measures one batch: it chooses the worker's next command and applies the worker's answers to the cells.
//
// In a round the cells are measured one after the other. Each cell is opened, sampled, verified if this is its first
// round, and closed. One run of the worker's measuring loop can take several samples. Because of the rounds, a drift of
// clocks or temperature affects all cells in the same way.
#pragma once

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
  // How a part of a round ended. After `failed`, the cell has ended or is deferred.
  using End = Outcome::Kind;

  bool begin(CellRun& run);
  End measure(CellRun& run);
  End take_samples(CellRun& run);
  End verify(CellRun& run);
  End finish(CellRun& run);
  End ensure_open(CellRun& run);
  End open(CellRun& run);
  End judge(CellRun& run, const Outcome& outcome, const std::string& doing);
  void fail(CellRun& run, const Outcome& outcome, const std::string& doing);
  std::string while_in(const std::string& doing) const;
  SampleLimits sample_limits(const CellRun& run) const;
  VerifyLimits verify_limits(const CellRun& run) const;
  double left_of_deadline(const CellRun& run) const { return run.cell->deadline_seconds - run.used_seconds; }
  bool needs_heap(const CellRun& run) const;
  bool needs_own_process(const CellRun& run) const;
  const Batch* next_to_start(const CellRun& run) const;

  const Batch& batch_;
  std::vector<CellRun*> cells_;
  WorkerSession& session_;
  CellBook book_;
  const Batch* follower_;
};

}  // namespace allocbench::front
