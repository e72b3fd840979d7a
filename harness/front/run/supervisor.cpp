#include "harness/front/run/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/output_folder.hpp"
#include "harness/front/run/trial_limits.hpp"
#include "harness/front/statistics/rounds.hpp"

namespace allocbench::front {
namespace {

// Seconds that a lost worker costs after its deadline, because the driver removes its process, and another one starts.
// On an H200 the next cell's first sample followed 0.2 to 0.6 s after most short deadlines.
constexpr double seconds_of_lost_worker = 0.5;
// What the start of a worker adds to a turn or to an isolated cell. Most of a start overlaps with the work of the
// worker before it. On an H200 the rounds of isolated cells of CUDA's malloc followed each other in 0.24 s.
constexpr double seconds_of_start = 0.25;
// Each turn starts and ends a process. So, if time is limited, a turn may also measure cells of the next passes. Their
// rounds must probably end within this time from the start of the turn.
constexpr auto least_turn = std::chrono::seconds(4);
constexpr int passes_ahead = 3;
// Results are written from time to time, so most of them remain if the run is killed.
constexpr auto between_news = std::chrono::seconds(60);

bool selected(const CellHistory* history, Selection selection) {
  const bool ended = history != nullptr && history->end.has_value();
  if (!ended) return selection != Selection::failed;
  if (history->end->left_out) return true;
  return selection != Selection::unfinished && history->end->status != Status::ok;
}

}  // namespace

FigureRun::FigureRun(const Figure& of, Selection selection, const Origin& origin, Forecaster& forecaster) : figure(of) {
  const std::string& name = of.plan.figure;
  std::map<std::string_view, const CellHistory*> by_id;
  for (const CellHistory& cell : of.history.cells) by_id[cell.id] = &cell;
  for (const Batch& batch : of.plan.batches) {
    PlannedBatch& planned = batches.emplace_back();
    planned.batch = &batch;
    for (const Cell& cell : batch.cells) {
      const CellHistory* known = by_id[cell.id];  // null if the history does not have the cell
      const bool runs = selected(known, selection);
      if (runs) {
        planned.cells.push_back(make_cell_run(cell, known, origin));
        planned.cells.back().is_isolated = batch.isolates(cell) && !batch.has_heap_share;
      }
      if (known == nullptr) continue;
      if (known->first_round_seconds > 0) {
        forecaster.note_round(name, cell, known->first_round_seconds, {known->fill_seconds});
      }
      if (known->deferred) {
        if (known->tried) forecaster.note_deferred(name, cell);
        forecaster.note_fill(cell, known->fill_seconds);
      }
      if (!known->end) continue;
      if (!runs) {
        forecaster.note_end(name, cell, known->end->status);  // the end counts although this run skips the cell
        values_before_[cell.label].values += known->end->status == Status::ok ? 1 : 0;
      } else if (is_expected_again(*known->end)) {
        forecaster.note_earlier_failure(cell, fmt::format("its earlier status was {}", word(known->end->status)));
      }
    }
  }
}

void FigureRun::open_log() {
  file = std::make_unique<EventLog>(events_path(figure.folder), figure.history.log_bytes);
  log = std::make_unique<RunLog>(*file);
}

std::size_t FigureRun::cells_to_run() const {
  std::size_t count = 0;
  for (const PlannedBatch& planned : batches) count += planned.cells.size();
  return count;
}

std::uint64_t FigureRun::steps_to_run() const {
  std::uint64_t steps = 0;
  for (const PlannedBatch& planned : batches) {
    for (const CellRun& run : planned.cells) steps += run.steps_left();
  }
  return steps;
}

void FigureRun::count_values() {
  values_ = values_before_;
  for (const PlannedBatch& planned : batches) {
    for (const CellRun& run : planned.cells) {
      Count& curve = values_[run.cell->label];
      const bool is_value = !run.rounds.empty();  // a cell that failed has no rounds any more
      if (is_value || run.is_open()) ++(is_value ? curve.values : curve.missing);
    }
  }
  all_values_ = {};
  for (const auto& [label, curve] : values_) {
    all_values_.values += curve.values;
    all_values_.missing += curve.missing;
  }
}

Sparse FigureRun::sparse_part(const std::string& label) const {
  if (all_values_.is_sparse()) return Sparse::figure;
  return values_.at(label).is_sparse() ? Sparse::curve : Sparse::nothing;
}

Supervisor::Supervisor(std::vector<FigureRun>& figures, const TimeLimit& time, Forecaster& forecaster,
                       WorkerSession& session, Progress& progress)
    : figures_(figures), time_(time), forecaster_(forecaster), session_(session), progress_(progress) {
  std::vector<const Batch*> batches;
  for (FigureRun& measured : figures_) {
    for (auto& planned : measured.batches) {
      batches.push_back(planned.batch);
      planned_[planned.batch] = {&measured, &planned.cells};
    }
  }
  turns_ = make_turns(batches);
  if (time_.exists() && figures_.size() > 1) {
    first_figure_ = &*std::ranges::min_element(
        figures_, {}, [&](const FigureRun& measured) { return seconds_of_first_rounds(measured); });
  }
}

bool Supervisor::run(std::optional<std::uint64_t> memory_bytes) {
  if (memory_bytes) skip_too_large(*memory_bytes);
  const std::size_t before = rounds_and_ends();
  for (auto place = next_place(); place && !time_.over(); place = next_place()) {
    if (!run_pass(*place)) return false;
    tell_news();
  }
  rest_.no_progress = time_.over() && rounds_and_ends() == before;
  for_each_cell([&](FigureRun& measured, CellRun& run) {
    if (!run.is_open()) return;
    book_of(measured).leave(run);
    if (run.state == CellState::left) ++(run.rounds.empty() ? rest_.not_begun : rest_.cut);
  });
  session_.stop();
  return true;
}

template <class Visit>
void Supervisor::for_each_cell(Visit visit) const {
  for (FigureRun& measured : figures_) {
    for (auto& planned : measured.batches) {
      for (CellRun& run : planned.cells) visit(measured, run);
    }
  }
}

// Returns the number of the whole rounds plus the number of ended cells.
std::size_t Supervisor::rounds_and_ends() const {
  std::size_t count = 0;
  for_each_cell([&](FigureRun&, CellRun& run) { count += run.rounds.size() + (run.is_open() ? 0 : 1); });
  return count;
}

// Returns the predicted total time of a config's first rounds.
double Supervisor::seconds_of_first_rounds(const FigureRun& measured) const {
  double seconds = 0;
  const Batch* running = nullptr;
  for (const auto& planned : measured.batches) {
    if (planned.cells.empty()) continue;
    if (running == nullptr || running->allocator != planned.batch->allocator) seconds += seconds_of_start;
    running = planned.batch;
    double fill_seconds = 0;
    for (const CellRun& run : planned.cells) {
      const Forecast forecast = forecaster_.about(measured.figure.plan.figure, *run.cell);
      seconds += forecast.seconds + forecast.risk * (least_trial_seconds + seconds_of_lost_worker);
      fill_seconds = std::max(fill_seconds, forecaster_.fill_seconds(*run.cell));
    }
    seconds += fill_seconds;
  }
  return seconds;
}

// Returns whether the cell can start from a copy of a pool that the running process has filled.
bool Supervisor::starts_filled(const CellRun& run) const {
  return !run.is_isolated && session_.has_measured_like(*run.cell);
}

Step Supervisor::step_of(const FigureRun& measured, const CellRun& run) const {
  Step step;
  step.rounds_had = run.rounds.size();
  step.rounds_of_number = std::min<std::uint64_t>(least_rounds_of_numbers, run.cell->rounds);
  step.rounds_of_interval = run.cell->least_rounds;
  if (run.rounds.empty()) {
    if (time_.exists()) step.sparse = measured.sparse_part(run.cell->label);  // otherwise steps have no price
    step.forecast = forecaster_.about(measured.figure.plan.figure, *run.cell);
    const double deadline = run.state == CellState::deferred ? run.cell->deadline_seconds : least_trial_seconds;
    step.failure_seconds = deadline + seconds_of_lost_worker;
  } else {
    step.forecast.seconds = run.seconds_of_next_round;
  }
  // A cell fills the pool whether or not it fails afterwards.
  const double fill = forecaster_.fill_part(*run.cell, run.sharing, starts_filled(run));
  step.forecast.seconds += fill;
  step.failure_seconds += fill;
  if (run.is_isolated)
    step.forecast.seconds += (!run.rounds.empty() || !run.cell->verifies_fully ? 1 : 2) * seconds_of_start;
  return step;
}

// Returns the part and pass of the run in which the cell's next round is due, or nothing if the cell gets no more
// rounds.
std::optional<Place> Supervisor::place_of(const FigureRun& measured, const CellRun& run) const {
  if (!run.is_open()) return std::nullopt;
  if (&measured == first_figure_ && run.rounds.empty() && run.state == CellState::waiting)
    return Place{Part::first_figure};
  const Step step = step_of(measured, run);
  const bool is_doubtful = !time_.exists() && step.forecast.risk > Forecast::likely;
  const Part usual = is_doubtful ? Part::doubtful : Part::usual;
  return Place{run.state == CellState::deferred ? Part::deferred : usual,
               time_.exists() ? pass_of(price(step)) : static_cast<int>(step.rounds_had)};
}

// Counts the cells that can share a fill. In a pass they come from one batch and usually have the same number of
// rounds. The cells of a series usually differ only in their callers, but cells of another series often need a fill for
// other requests or another free share.
void Supervisor::count_sharing() {
  for (FigureRun& measured : figures_) {
    for (auto& planned : measured.batches) {
      std::map<std::tuple<std::string_view, CellState, std::size_t>, std::size_t> cells;
      const auto key = [](const CellRun& run) {
        return std::tuple(std::string_view(run.cell->series), run.state, run.rounds.size());
      };
      for (const CellRun& run : planned.cells) ++cells[key(run)];
      for (CellRun& run : planned.cells) run.sharing = run.is_isolated ? 1 : cells[key(run)];
    }
  }
}

std::optional<Place> Supervisor::next_place() {
  count_sharing();
  if (time_.exists()) std::ranges::for_each(figures_, &FigureRun::count_values);
  std::optional<Place> next;
  for_each_cell([&](const FigureRun& measured, CellRun& run) {
    run.place = place_of(measured, run);
    if (run.place && (!next || *run.place < *next)) next = run.place;
  });
  return next;
}

bool Supervisor::run_pass(const Place& place) {
  const auto order = order_of_round(turns_.size(), figures_.front().figure.plan.seed, passes_++);
  for (auto turn = order.begin(); turn != order.end() && !time_.over(); ++turn) {
    const Batch* of_next_turn = nullptr;
    for (auto later = turn + 1; later != order.end() && of_next_turn == nullptr; ++later) {
      const auto waiting = waiting_batches(turns_[*later], place, place);
      if (!waiting.empty()) of_next_turn = waiting.front();
    }
    if (!run_turn(turns_[*turn], place, of_next_turn)) return false;
  }
  if (place.part == Part::first_figure) {
    std::exchange(first_figure_, nullptr)->news(FigureRun::News::first_rounds);
  }
  return true;
}

void Supervisor::tell_news() {
  const bool is_due = TimeLimit::Clock::now() - told_at_ > between_news;
  if (is_due) told_at_ = TimeLimit::Clock::now();
  for (FigureRun& measured : figures_) {
    if (measured.is_finished) continue;
    const auto& batches = measured.batches;
    measured.is_finished = std::ranges::all_of(
        batches, [](const auto& planned) { return std::ranges::none_of(planned.cells, &CellRun::is_open); });
    if (measured.is_finished || is_due) measured.news(FigureRun::News::more);
  }
}

// Returns the batches of a turn that have cells for these passes.
std::vector<const Batch*> Supervisor::waiting_batches(const Turn& turn, const Place& first, const Place& last) const {
  std::vector<const Batch*> batches;
  std::ranges::copy_if(turn, std::back_inserter(batches),
                       [&](const Batch* batch) { return !waiting_cells(batch, first, last).empty(); });
  return batches;
}

bool Supervisor::run_turn(const Turn& turn, const Place& place, const Batch* of_next_turn) {
  if (waiting_batches(turn, place, place).empty()) return true;
  const Place last{place.part, place.pass + (time_.exists() ? passes_ahead : 0)};
  const std::vector<const Batch*> batches = waiting_batches(turn, place, last);
  const auto end_of_turn = TimeLimit::Clock::now() + least_turn;
  for (auto batch = batches.begin(); batch != batches.end(); ++batch) {
    FigureRun& measured = *planned_.at(*batch).measured;
    std::vector<CellRun*> waiting = waiting_cells(*batch, place, last);
    if (waiting.empty()) continue;
    if (interrupted()) return false;
    // The first batch that cannot share the process probably needs the next worker.
    const auto follower =
        std::find_if(batch + 1, batches.end(), [&](const Batch* each) { return !shares_process(**batch, *each); });
    BatchRunner runner(**batch, std::move(waiting), session_, book_of(measured),
                       follower == batches.end() ? of_next_turn : *follower);
    // The place of the cell is computed again, because earlier cells may have shown that the cell fails or takes long,
    // or may have given the figure half of its values.
    const auto is_due = [&](const CellRun& run) {
      if (time_.exists()) measured.count_values();
      const std::optional<Place> now = place_of(measured, run);
      if (now <= place) return true;
      const Step step = step_of(measured, run);
      // If this process has filled the pool, a later process need not fill it for this cell.
      const double saved = starts_filled(run) ? forecaster_.fill_seconds(*run.cell) : 0;
      const std::chrono::duration<double> seconds(step.forecast.seconds - saved);
      return now <= last && step.is_of_number() && TimeLimit::Clock::now() + seconds < end_of_turn;
    };
    if (!runner.run_round(is_due)) return false;
    if (time_.over()) break;
  }
  session_.retire();  // each round has its own processes
  return true;
}

// Returns the cells of a batch with a place from `first` to `last`. The places are those from the start of the pass,
// because a worker waits during this call, and new forecasts would take long.
std::vector<CellRun*> Supervisor::waiting_cells(const Batch* batch, const Place& first, const Place& last) const {
  std::vector<CellRun*> waiting;
  for (CellRun& run : *planned_.at(batch).cells) {
    if (run.is_open() && run.place && first <= *run.place && *run.place <= last) waiting.push_back(&run);
  }
  return waiting;
}

// Skips the cells whose pools are larger than the device's memory. Their allocators are not the cause.
void Supervisor::skip_too_large(std::uint64_t memory_bytes) {
  for_each_cell([&](FigureRun& measured, CellRun& run) {
    if (run.cell->pool_bytes <= memory_bytes) return;
    book_of(measured).end(run, {.status = Status::skipped,
                                .reason = fmt::format("needs a pool of {}, but the device has {}",
                                                      format_memory(run.cell->pool_bytes), format_memory(memory_bytes)),
                                .left_out = true,
                                .too_large = true});
    ++rest_.too_large;
  });
}

CellBook Supervisor::book_of(FigureRun& measured) {
  return {measured.figure.plan.figure, *measured.log, forecaster_, progress_, time_};
}

}  // namespace allocbench::front
