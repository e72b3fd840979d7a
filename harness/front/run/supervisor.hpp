// Supervisor measures configs in passes, and survives failures of the workers.
//
// A pass gives some cells their next round (order.hpp selects them). In a pass every allocator with such cells has its
// turn. One worker process measures all cells of a turn, if the allocator allows it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/batch_runner.hpp"
#include "harness/front/run/turns.hpp"

namespace allocbench::front {

// The cells of a plan that a run measures. Each selection also includes the cells that an earlier run left out for
// lack of time or memory.
enum class Selection {
  unfinished,            // a new run, or --resume: cells without an end in the log
  failed,                // --only-failed: cells that ended with a status that is not ok
  unfinished_and_failed  // both flags
};

// One config with its plan and the folder of its results.
struct Figure {
  Config config;
  Plan plan;
  std::string folder;
  RunHistory history;  // history from the folder's log; empty for a new run
  std::optional<Shard> shard = {};
};

// The cells of a figure that a run measures, and the log of their events.
class FigureRun {
 public:
  // Adds the times and failures of the history to the forecaster.
  FigureRun(const Figure& of, Selection selection, const Origin& origin, Forecaster& forecaster);
  void open_log();  // call it before a supervisor gets the object

  std::size_t cells_to_run() const;
  std::uint64_t steps_to_run() const;  // number of steps for the progress
  // Counts the values for sparse_part(), so that a pass over all cells does not count anew for each cell. Count again
  // after a cell has run.
  void count_values();
  // Returns `figure` if the figure is sparse, otherwise `curve` if the curve of the allocator with this label is.
  Sparse sparse_part(const std::string& label) const;

  struct PlannedBatch {
    const Batch* batch = nullptr;
    std::vector<CellRun> cells;
  };
  const Figure& figure;
  std::vector<PlannedBatch> batches;
  std::unique_ptr<EventLog> file;
  std::unique_ptr<RunLog> log;
  // The supervisor calls `news` when the results should be written: after Part::first_figure if this part measured this
  // figure (`first_rounds`), after the end of the figure's last cell, and from time to time between passes.
  enum class News { first_rounds, more };
  std::function<void(News)> news = {};
  bool is_finished = false;

 private:
  struct Count {
    std::size_t values = 0;
    std::size_t missing = 0;  // cells that can still get a value
    bool is_sparse() const { return values < missing; }
  };
  std::map<std::string, Count> values_before_;  // by label: values of cells that this run does not measure
  std::map<std::string, Count> values_;         // by label
  Count all_values_;                            // their sum
};

class Supervisor {
 public:
  Supervisor(std::vector<FigureRun>& figures, const TimeLimit& time, Forecaster& forecaster, WorkerSession& session,
             Progress& progress);

  // Measures the figures until they are finished or the time is over. Skips cells whose pools are larger than the
  // device's memory, if that is known. Returns false if the user interrupted. Throws EnvironmentError if no worker can
  // be started, if the machine fails, or if a log cannot be written.
  bool run(std::optional<std::uint64_t> memory_bytes);

  // Numbers of cells that the run did not finish for lack of time or memory.
  struct Rest {
    std::size_t not_begun = 0;
    std::size_t cut = 0;        // cells with too few rounds
    std::size_t too_large = 0;  // cells that need more than the device's memory
    bool no_progress = false;   // whether the time was over before any round or cell ended
  };
  const Rest& rest() const { return rest_; }

 private:
  struct PlannedCells {
    FigureRun* measured = nullptr;
    std::vector<CellRun>* cells = nullptr;
  };

  std::optional<Place> place_of(const FigureRun& measured, const CellRun& run) const;
  std::optional<Place> next_place();  // place of the coming pass
  void count_sharing();
  std::size_t rounds_and_ends() const;
  double seconds_of_first_rounds(const FigureRun& measured) const;
  Step step_of(const FigureRun& measured, const CellRun& run) const;
  bool starts_filled(const CellRun& run) const;
  bool run_pass(const Place& place);
  bool run_turn(const Turn& turn, const Place& place, const Batch* of_next_turn);
  std::vector<const Batch*> waiting_batches(const Turn& turn, const Place& first, const Place& last) const;
  std::vector<CellRun*> waiting_cells(const Batch* batch, const Place& first, const Place& last) const;
  void skip_too_large(std::uint64_t memory_bytes);
  void tell_news();
  CellBook book_of(FigureRun& measured);
  template <class Visit>
  void for_each_cell(Visit visit) const;

  std::vector<FigureRun>& figures_;
  TimeLimit time_;
  Rest rest_;
  Forecaster& forecaster_;
  WorkerSession& session_;
  Progress& progress_;
  std::map<const Batch*, PlannedCells> planned_;
  std::vector<Turn> turns_;
  std::uint64_t passes_ = 0;
  FigureRun* first_figure_ = nullptr;  // figure that must still get its first rounds
  TimeLimit::Clock::time_point told_at_ = TimeLimit::Clock::now();
};

}  // namespace allocbench::front
