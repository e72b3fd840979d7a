// Measures a plan: batch after batch, round after round, whatever the workers do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/batch_runner.hpp"

namespace allocbench::front {

// Which cells of a plan a run measures.
enum class Selection {
  unfinished,            // a new run, or --resume: what has no end in the log
  failed,                // --only-failed: what ended, but not with ok
  unfinished_and_failed  // both flags
};

class Supervisor {
 public:
  // `history` is what the log says so far; empty for a new run.
  Supervisor(const Plan& plan, std::vector<std::optional<std::uint64_t>> device_heap_bytes, const RunHistory& history,
             Selection selection);

  std::size_t cells_to_run() const;
  std::uint64_t steps_to_run() const;

  // False when the user interrupted. Throws EnvironmentError when no worker can be started any more.
  bool run(WorkerSession& session, RunLog& log, Progress& progress);

 private:
  const Plan& plan_;
  std::vector<std::optional<std::uint64_t>> device_heap_bytes_;
  SeriesWatch watch_;
  std::vector<std::vector<CellRun>> runs_;  // by batch
};

}  // namespace allocbench::front
