// Measures configs: round after round, whatever the workers do.
//
// In a round every allocator has its turn, in an order drawn from the seed, so that a drift of clocks or temperature
// hits all alike. One worker process measures all cells of a turn as far as the allocator lets it.
#pragma once

#include <cstdint>
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

// The cells of one config that a run measures.
class FigureRun {
 public:
  // `history` is what the log says so far; empty for a new run.
  FigureRun(const Plan& plan, const RunHistory& history, Selection selection, const Origin& origin);

  std::size_t cells_to_run() const;
  std::uint64_t steps_to_run() const;  // for the progress

  struct PlannedBatch {
    const Batch* batch = nullptr;
    std::vector<CellRun> cells;
  };
  std::vector<PlannedBatch> batches;
  SeriesWatch watch;
  std::uint64_t seed = 1;
};

// A config and the log that its events go to.
struct LoggedFigure {
  FigureRun& figure;
  RunLog& log;
};

class Supervisor {
 public:
  // After `time_limit_seconds` no cell gets more than its least number of rounds; nullopt = no such limit.
  Supervisor(std::vector<LoggedFigure> figures, std::optional<double> time_limit_seconds, WorkerSession& session,
             Progress& progress);

  // False when the user interrupted. Throws EnvironmentError when no worker can be started any more.
  bool run();

 private:
  // Batches of one allocator, of all figures, those with the same device heap beside each other.
  struct Turn {
    std::string allocator;
    std::vector<std::pair<std::size_t, std::size_t>> batches;  // figure, batch
  };

  void make_turns();
  std::optional<std::uint64_t> next_round() const;
  bool run_round(std::uint64_t round, Hopeless hopeless);
  bool run_turn(const Turn& turn, std::uint64_t round, Hopeless hopeless);
  std::vector<CellRun*> waiting_cells(LoggedFigure& logged, std::size_t batch, std::uint64_t round);
  bool out_of_time() const;

  std::vector<LoggedFigure> figures_;
  WorkerSession& session_;
  Progress& progress_;
  std::vector<Turn> turns_;
  std::optional<WorkerProcess::Clock::time_point> time_limit_;
};

}  // namespace allocbench::front
