// Measures configs, pass after pass, whatever the workers do.
//
// A pass gives some cells their next round (order.hpp says which). In it every allocator has its turn, in an order
// drawn from the seed, so that a drift of clocks or temperature hits all alike. One worker process measures all cells
// of a turn as far as the allocator lets it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/batch_runner.hpp"
#include "harness/front/run/turns.hpp"

namespace allocbench::front {

// Which cells of a plan a run measures. Each takes those that an earlier run left out for lack of time.
enum class Selection {
  unfinished,            // a new run, or --resume: what has no end in the log
  failed,                // --only-failed: what ended, but not with ok
  unfinished_and_failed  // both flags
};

// One config on its way to a folder of results.
struct Figure {
  Config config;
  Plan plan;
  std::string folder;
  RunHistory history;  // what the folder's log says so far; empty for a new run
  std::optional<Shard> shard = {};
};

// The cells of a figure that a run measures, and the log that their events go to.
class FigureRun {
 public:
  // The forecaster learns the history's costs and failures.
  FigureRun(const Figure& of, Selection selection, const Origin& origin, Forecaster& forecaster);
  void open_log();  // before a supervisor gets it

  std::size_t cells_to_run() const;
  std::uint64_t steps_to_run() const;  // for the progress
  // Fewer than half of the config's cells have a value.
  bool is_bare() const { return 2 * cells_with_value() < figure.plan.cell_count(); }

  struct PlannedBatch {
    const Batch* batch = nullptr;
    std::vector<CellRun> cells;
  };
  const Figure& figure;
  std::vector<PlannedBatch> batches;
  std::unique_ptr<EventLog> file;
  std::unique_ptr<RunLog> log;
  // Called when its results are worth writing: after its first rounds as the first figure, when the last of its cells
  // has ended, and now and then between passes. May be empty.
  enum class News { first_rounds, some, finished };
  std::function<void(News)> news = {};
  bool is_finished = false;

 private:
  std::size_t cells_with_value() const;

  std::size_t values_before_ = 0;  // of cells that this run does not measure
};

// What a run may use.
struct Resources {
  TimeLimit time{std::nullopt};  // when it is over no command begins, and one that is under way is ended
  std::optional<std::uint64_t> memory_bytes = {};  // of the device; none: not known
};

class Supervisor {
 public:
  Supervisor(std::vector<FigureRun>& figures, const Resources& resources, Forecaster& forecaster,
             WorkerSession& session, Progress& progress);

  // False when the user interrupted. Throws EnvironmentError if no worker can be started.
  bool run();

  // What time and memory were too small for.
  struct Rest {
    std::size_t not_begun = 0;
    std::size_t cut = 0;        // with fewer rounds than wanted
    std::size_t too_large = 0;  // for the device's memory
  };
  Rest rest() const;

 private:
  std::optional<Place> place_of(std::size_t figure, const CellRun& run) const;
  std::optional<Place> next_place();  // of the coming pass
  std::optional<std::size_t> cheapest_figure() const;
  Step step_of(const FigureRun& measured, const CellRun& run) const;
  bool run_pass(const Place& place);
  bool run_turn(const Turn& turn, const Place& place, const Batch* of_next_turn);
  std::vector<const Batch*> waiting_batches(const Turn& turn, const Place& first, const Place& last);
  std::vector<CellRun*> waiting_cells(std::size_t figure, std::size_t batch, const Place& first, const Place& last);
  void skip_too_large();
  void leave_rest();
  void tell_news();
  CellBook book_of(FigureRun& measured);
  template <class Visit>
  void for_each_cell(Visit visit) const;

  std::vector<FigureRun>& figures_;
  TimeLimit time_;
  std::optional<std::uint64_t> memory_bytes_;
  std::size_t too_large_ = 0;
  Forecaster& forecaster_;
  WorkerSession& session_;
  Progress& progress_;
  std::vector<Turn> turns_;
  std::uint64_t passes_ = 0;
  std::optional<std::size_t> first_figure_;  // until it has its first rounds
  TimeLimit::Clock::time_point told_at_ = TimeLimit::Clock::now();
};

}  // namespace allocbench::front
