// Measures configs: round after round, whatever the workers do.
//
// In a round every allocator has its turn, in an order drawn from the seed, so that a drift of clocks or temperature
// hits all alike. One worker process measures all cells of a turn as far as the allocator lets it. Cells that will
// probably fail have rounds of their own, after all rounds of the others. Where time is limited, cheap cells come
// first, as far as earlier results or their own rounds tell.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/batch_runner.hpp"
#include "harness/front/run/stopping.hpp"
#include "harness/front/run/turns.hpp"

namespace allocbench::front {

// Which cells of a plan a run measures. Each takes those that an earlier run left out for lack of time.
enum class Selection {
  unfinished,            // a new run, or --resume: what has no end in the log
  failed,                // --only-failed: what ended, but not with ok
  unfinished_and_failed  // both flags
};

// The cells of one config that a run measures.
class FigureRun {
 public:
  // `history` is what the log says so far; empty for a new run. What failed there is told to `watch`. `first_rounds` is
  // what earlier results say.
  FigureRun(const Plan& plan, const RunHistory& history, Selection selection, const Origin& origin,
            const FirstRounds& first_rounds, TroubleWatch& watch);

  std::size_t cells_to_run() const;
  std::uint64_t steps_to_run() const;  // for the progress

  struct PlannedBatch {
    const Batch* batch = nullptr;
    std::vector<CellRun> cells;
  };
  std::vector<PlannedBatch> batches;
  std::string figure;
  std::uint64_t seed = 1;
};

// A config and the log that its events go to.
struct LoggedFigure {
  FigureRun& figure;
  RunLog& log;
  // Called once, when the last of its cells has ended; may be empty.
  std::function<void()> finished = {};
};

class Supervisor {
 public:
  // After the time limit no cell gets more than its first round, and what was put off or is expensive is left out.
  Supervisor(std::vector<LoggedFigure> figures, TimeLimit time, TroubleWatch& watch, WorkerSession& session,
             Progress& progress);

  // False when the user interrupted. Throws EnvironmentError when no worker can be started any more.
  bool run();

  struct Rest {
    std::size_t put_off = 0;
    std::size_t out_of_time = 0;  // of them
    std::size_t cut = 0;          // not finished when the time was over
  };
  Rest rest() const;

 private:
  bool run_rounds(Doubt accepted);
  void announce(Doubt accepted) const;
  // Which cells get the next round.
  struct Next {
    Doubt accepted;       // no cell with a greater one
    Urgency urgency;      // cells of this one
    std::uint64_t round;  // that have so many rounds
  };
  Urgency urgency_of(const CellRun& run) const;
  void admit_expensive(Doubt accepted);
  std::optional<Next> next_round(Doubt accepted) const;
  bool run_round(const Next& next);
  void tell_finished();
  bool run_turn(const Turn& turn, const Next& next, const Batch* of_next_turn);
  std::vector<const Batch*> waiting_batches(const Turn& turn, const Next& next);
  std::vector<CellRun*> waiting_cells(LoggedFigure& logged, std::size_t batch, const Next& next);
  CellBook book_of(LoggedFigure& logged);
  template <class Visit>
  void for_each_cell(Visit visit) const;

  std::vector<LoggedFigure> figures_;
  TimeLimit time_;
  TroubleWatch& watch_;
  WorkerSession& session_;
  Progress& progress_;
  std::vector<Turn> turns_;
};

}  // namespace allocbench::front
