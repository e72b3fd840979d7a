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

class BatchRunner {
 public:
  // `follower` is the next batch that will probably need a worker of its own; null: nobody knows.
  BatchRunner(const Batch& batch, std::vector<CellRun*> cells, WorkerSession& session, CellBook book,
              const Batch* follower);

  // One round of the cells, none of which has ended: each has its samples of the round then, has failed or was put off,
  // because the doubt about it is greater than `accepted`. When the time is over only first rounds begin.
  // Leaves the worker running for the next batch. False when the user interrupted.
  bool run_round(Doubt accepted);

 private:
  enum class Step { done, cell_ended, put_off, interrupted };
  using Command = Outcome (WorkerSession::*)(const Cell&, double);

  Step prepare(CellRun& run, Doubt accepted);
  Step admit(CellRun& run, Doubt accepted);
  Step verify(CellRun& run);
  Step run_cell(CellRun& run, Doubt accepted);
  Step take_samples(CellRun& run, std::uint64_t count);
  Step finish(CellRun& run);
  Step ensure_open(CellRun& run);
  Step open(CellRun& run);
  Step charge(CellRun& run, Command command, const std::string& doing, Outcome& outcome);
  Step judge(CellRun& run, const Outcome& outcome, const std::string& doing);
  Step fail(CellRun& run, const Outcome& outcome, const std::string& doing);
  void end_all(const Outcome& outcome);
  void shorten_if_hopeless(CellRun& run);
  double set_up_limit(const CellRun& run) const;
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
  CellFacts allocator_facts_;
};

}  // namespace allocbench::front
