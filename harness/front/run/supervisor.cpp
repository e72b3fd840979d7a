#include "harness/front/run/supervisor.hpp"

#include <algorithm>
#include <map>

#include "harness/front/run/interrupt.hpp"
#include "harness/front/run/stopping.hpp"

namespace allocbench::front {
namespace {

bool selected(const CellHistory* history, Selection selection) {
  const bool finished = history != nullptr && history->end.has_value();
  if (!finished) return selection != Selection::failed;
  return selection != Selection::unfinished && history->end->status != Status::ok;
}

bool waits_for(const CellRun& run, std::uint64_t round) { return !run.ended && run.rounds.size() == round; }

}  // namespace

FigureRun::FigureRun(const Plan& plan, const RunHistory& history, Selection selection, const Origin& origin)
    : seed(plan.seed) {
  std::map<std::string_view, const CellHistory*> by_id;
  for (const CellHistory& cell : history.cells) by_id[cell.id] = &cell;
  for (const Batch& batch : plan.batches) {
    PlannedBatch& planned = batches.emplace_back();
    planned.batch = &batch;
    for (const Cell& cell : batch.cells) {
      const auto found = by_id.find(cell.id);
      const CellHistory* known = found == by_id.end() ? nullptr : found->second;
      if (selected(known, selection)) {
        planned.cells.push_back(make_cell_run(cell, known, origin));
      } else if (known != nullptr && known->end && known->end->status == Status::timeout) {
        watch.note_timeout(cell.series, cell.growth);  // what timed out earlier still counts for the skip rule
      }
    }
  }
}

std::size_t FigureRun::cells_to_run() const {
  std::size_t count = 0;
  for (const PlannedBatch& planned : batches) count += planned.cells.size();
  return count;
}

std::uint64_t FigureRun::steps_to_run() const {
  std::uint64_t steps = 0;
  for (const PlannedBatch& planned : batches) {
    for (const CellRun& run : planned.cells) steps += run.steps_left;
  }
  return steps;
}

Supervisor::Supervisor(std::vector<LoggedFigure> figures, std::optional<double> time_limit_seconds,
                       WorkerSession& session, Progress& progress)
    : figures_(std::move(figures)), session_(session), progress_(progress) {
  make_turns();
  if (time_limit_seconds) {
    time_limit_ = WorkerProcess::Clock::now() + std::chrono::duration_cast<WorkerProcess::Clock::duration>(
                                                    std::chrono::duration<double>(*time_limit_seconds));
  }
}

void Supervisor::make_turns() {
  std::map<std::string_view, std::size_t> turn_of;
  for (std::size_t figure = 0; figure < figures_.size(); ++figure) {
    const auto& batches = figures_[figure].figure.batches;
    for (std::size_t batch = 0; batch < batches.size(); ++batch) {
      const std::string& allocator = batches[batch].batch->allocator;
      const auto [place, is_new] = turn_of.emplace(allocator, turns_.size());
      if (is_new) turns_.push_back({allocator, {}});
      turns_[place->second].batches.emplace_back(figure, batch);
    }
  }
  for (Turn& turn : turns_) {
    std::stable_sort(turn.batches.begin(), turn.batches.end(), [&](const auto& one, const auto& other) {
      const auto heap = [&](const auto& each) {
        const Batch& batch = *figures_[each.first].figure.batches[each.second].batch;
        const auto bytes = known_device_heap(batch);
        return std::pair(bytes.value_or(0), bytes ? "" : device_heap_question(batch));
      };
      return heap(one) < heap(other);
    });
  }
}

bool Supervisor::run() {
  while (const auto round = next_round()) {
    // Hopeless cells, found only in a cell's first round, come after all others.
    if (!run_round(*round, Hopeless::put_off)) return false;
    if (*round == 0 && !run_round(*round, Hopeless::measure)) return false;
  }
  return true;
}

// The first one that a cell still waits for: a resumed run catches up with what it lost.
std::optional<std::uint64_t> Supervisor::next_round() const {
  std::optional<std::uint64_t> next;
  for (const LoggedFigure& logged : figures_) {
    for (const auto& planned : logged.figure.batches) {
      for (const CellRun& run : planned.cells) {
        if (!run.ended) next = std::min<std::uint64_t>(next.value_or(run.rounds.size()), run.rounds.size());
      }
    }
  }
  return next;
}

bool Supervisor::run_round(std::uint64_t round, Hopeless hopeless) {
  const std::uint64_t seed = figures_.front().figure.seed;
  for (const std::size_t index : order_of_round(turns_.size(), seed, round)) {
    if (!run_turn(turns_[index], round, hopeless)) return false;
  }
  return true;
}

bool Supervisor::run_turn(const Turn& turn, std::uint64_t round, Hopeless hopeless) {
  for (const auto& [figure, batch] : turn.batches) {
    LoggedFigure& logged = figures_[figure];
    const auto& planned = logged.figure.batches[batch];
    std::vector<CellRun*> waiting = waiting_cells(logged, batch, round);
    if (waiting.empty()) continue;
    if (interrupted()) return false;
    BatchRunner runner(*planned.batch, std::move(waiting), session_, {logged.log, logged.figure.watch, progress_});
    if (!runner.run_round(hopeless)) return false;
  }
  session_.stop();  // each round has processes of its own
  return true;
}

// Those that get this round. Out of time, cells with their least number of rounds end here instead.
std::vector<CellRun*> Supervisor::waiting_cells(LoggedFigure& logged, std::size_t batch, std::uint64_t round) {
  std::vector<CellRun*> waiting;
  for (CellRun& run : logged.figure.batches[batch].cells) {
    if (!waits_for(run, round)) continue;
    if (run.verified && round >= run.cell->least_rounds && out_of_time()) {
      CellBook{logged.log, logged.figure.watch, progress_}.end(run, {.stop = stop::time});
    } else {
      waiting.push_back(&run);
    }
  }
  return waiting;
}

bool Supervisor::out_of_time() const { return time_limit_ && WorkerProcess::Clock::now() >= *time_limit_; }

}  // namespace allocbench::front
