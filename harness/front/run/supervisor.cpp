#include "harness/front/run/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "harness/front/run/admission.hpp"
#include "harness/front/run/interrupt.hpp"

namespace allocbench::front {
namespace {

bool selected(const CellHistory* history, Selection selection) {
  const bool ended = history != nullptr && history->end.has_value();
  if (!ended) return selection != Selection::failed;
  if (history->end->left_out) return true;
  return selection != Selection::unfinished && history->end->status != Status::ok;
}

// Whether a cell of the figure was measured in this run, or before it in the same log.
bool has_measured_cell(const FigureRun& figure) {
  return std::ranges::any_of(figure.batches, [](const auto& planned) {
    return std::ranges::any_of(planned.cells, [](const CellRun& run) { return !run.rounds.empty(); });
  });
}

bool waits(const CellRun& run, Doubt accepted) { return !run.ended && !run.cut && run.doubt <= accepted; }

const char* in_words(Doubt doubt) {
  switch (doubt) {
    case Doubt::none:
      break;
    case Doubt::allocator:
      return "their allocator crashed or hung in most configs";
    case Doubt::config:
      return "their allocator crashed or hung at most cells of the same config";
    case Doubt::harder:
      return "their allocator failed at a cell of the same workload with equal or smaller requests";
    case Doubt::cell:
      return "they failed in earlier results, or their series timed out";
  }
  return "";
}

// `running` is one of the batches. The first of the later ones that cannot share the process of `running`; none: what
// the next turn begins with.
const Batch* follower(const Batch& running, const std::vector<const Batch*>& batches, const Batch* of_next_turn) {
  const auto place = std::find(batches.begin(), batches.end(), &running);
  const auto found =
      std::find_if(std::next(place), batches.end(), [&](const Batch* each) { return !shares_process(running, *each); });
  return found == batches.end() ? of_next_turn : *found;
}

}  // namespace

FigureRun::FigureRun(const Plan& plan, const RunHistory& history, Selection selection, const Origin& origin,
                     const FirstRounds& first_rounds, TroubleWatch& watch)
    : figure(plan.figure), seed(plan.seed) {
  std::map<std::string_view, const CellHistory*> by_id;
  for (const CellHistory& cell : history.cells) by_id[cell.id] = &cell;
  for (const Batch& batch : plan.batches) {
    PlannedBatch& planned = batches.emplace_back();
    planned.batch = &batch;
    for (const Cell& cell : batch.cells) {
      const auto found = by_id.find(cell.id);
      const CellHistory* known = found == by_id.end() ? nullptr : found->second;
      const bool runs = selected(known, selection);
      if (runs) {
        planned.cells.push_back(make_cell_run(cell, known, origin));
        const auto expected = first_rounds.find(cell.id);
        if (expected != first_rounds.end()) planned.cells.back().expected = expected->second;
      }
      if (known != nullptr && !known->end && known->open.verified) watch.note_verified(figure, cell);
      if (known == nullptr || !known->end) continue;
      const Status status = known->end->status;
      if (!runs) {
        watch.note_end(figure, cell, status);  // still counts
        if (costs_worker(status)) watch.note_lost_worker(figure, cell.label);
      } else if (foretells_trouble(*known->end)) {
        watch.note_known(cell.id, fmt::format("its status was {} before", word(status)));
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

Supervisor::Supervisor(std::vector<LoggedFigure> figures, TimeLimit time, TroubleWatch& watch, WorkerSession& session,
                       Progress& progress)
    : figures_(std::move(figures)), time_(time), watch_(watch), session_(session), progress_(progress) {
  FigureBatches batches;
  for (const LoggedFigure& logged : figures_) {
    auto& of_figure = batches.emplace_back();
    for (const auto& planned : logged.figure.batches) of_figure.push_back(planned.batch);
  }
  turns_ = make_turns(batches);
}

bool Supervisor::run() {
  for (const Doubt accepted : {Doubt::none, Doubt::allocator, Doubt::config, Doubt::harder, Doubt::cell}) {
    if (!run_rounds(accepted)) return false;
  }
  session_.stop();
  return true;
}

// All rounds of the cells that are not too doubtful.
bool Supervisor::run_rounds(Doubt accepted) {
  announce(accepted);
  while (const auto next = next_round(accepted)) {
    if (next->urgency.waits_for_time) {
      admit_expensive(accepted);
    } else if (!run_round(*next)) {
      return false;
    }
  }
  return true;
}

void Supervisor::announce(Doubt accepted) const {
  std::size_t cells = 0;
  for_each_cell([&](const CellRun& run) { cells += waits(run, accepted) && run.doubt != Doubt::none ? 1 : 0; });
  if (cells > 0) {
    const std::string which = cells == 1 ? "1 cell that was" : fmt::format("{} cells that were", cells);
    progress_.say(fmt::format("now {} put off: {}", which, in_words(accepted)));
  }
}

Supervisor::Rest Supervisor::rest() const {
  Rest counts;
  for_each_cell([&](const CellRun& run) {
    counts.put_off += run.doubt != Doubt::none || run.out_of_time ? 1 : 0;
    counts.out_of_time += run.out_of_time ? 1 : 0;
    counts.cut += run.cut ? 1 : 0;
  });
  return counts;
}

template <class Visit>
void Supervisor::for_each_cell(Visit visit) const {
  for (const LoggedFigure& logged : figures_) {
    for (const auto& planned : logged.figure.batches) {
      for (const CellRun& run : planned.cells) visit(run);
    }
  }
}

Urgency Supervisor::urgency_of(const CellRun& run) const {
  if (!time_.exists()) return {};
  Urgency urgency = front::urgency_of(*run.cell, run.rounds, run.expected.seconds);
  urgency.waits_for_time = urgency.is_expensive && run.rounds.empty() && !run.admitted;
  return urgency;
}

// At least one of those that wait.
void Supervisor::admit_expensive(Doubt accepted) {
  std::vector<CellRun*> runs;
  std::vector<ExpensiveCell> waiting;
  for (const LoggedFigure& logged : figures_) {
    const bool is_first = !has_measured_cell(logged.figure);
    for (auto& planned : logged.figure.batches) {
      for (CellRun& run : planned.cells) {
        if (!waits(run, accepted) || !urgency_of(run).waits_for_time) continue;
        runs.push_back(&run);
        waiting.push_back({run.expected.seconds, run.cell->form == "reworked", is_first});
      }
    }
  }
  for (const std::size_t place : admit(waiting, time_.seconds_left())) runs[place]->admitted = true;
}

// The first one that a cell still waits for: a resumed run catches up with what it lost.
std::optional<Supervisor::Next> Supervisor::next_round(Doubt accepted) const {
  std::optional<Next> next;
  for_each_cell([&](const CellRun& run) {
    if (!waits(run, accepted)) return;
    const Next candidate{accepted, urgency_of(run), run.rounds.size()};
    const auto rank = [](const Next& each) { return std::tuple(each.urgency, each.round); };
    if (!next || rank(candidate) < rank(*next)) next = candidate;
  });
  return next;
}

bool Supervisor::run_round(const Next& next) {
  const std::uint64_t seed = figures_.front().figure.seed;
  const auto order = order_of_round(turns_.size(), seed, next.round);
  for (auto turn = order.begin(); turn != order.end(); ++turn) {
    const Batch* of_next_turn = nullptr;
    for (auto later = turn + 1; later != order.end() && of_next_turn == nullptr; ++later) {
      const auto waiting = waiting_batches(turns_[*later], next);
      if (!waiting.empty()) of_next_turn = waiting.front();
    }
    if (!run_turn(turns_[*turn], next, of_next_turn)) return false;
  }
  tell_finished();
  return true;
}

void Supervisor::tell_finished() {
  for (LoggedFigure& logged : figures_) {
    const auto& batches = logged.figure.batches;
    const bool finished = std::all_of(batches.begin(), batches.end(), [](const auto& planned) {
      return std::all_of(planned.cells.begin(), planned.cells.end(), [](const CellRun& run) { return run.ended; });
    });
    if (finished && logged.finished) std::exchange(logged.finished, {})();
  }
}

// Those of a turn that have cells for this round.
std::vector<const Batch*> Supervisor::waiting_batches(const Turn& turn, const Next& next) {
  std::vector<const Batch*> batches;
  for (const auto& [figure, batch] : turn.batches) {
    LoggedFigure& logged = figures_[figure];
    if (!waiting_cells(logged, batch, next).empty()) batches.push_back(logged.figure.batches[batch].batch);
  }
  return batches;
}

bool Supervisor::run_turn(const Turn& turn, const Next& next, const Batch* of_next_turn) {
  const std::vector<const Batch*> batches = waiting_batches(turn, next);
  for (const auto& [figure, batch] : turn.batches) {
    LoggedFigure& logged = figures_[figure];
    const auto& planned = logged.figure.batches[batch];
    std::vector<CellRun*> waiting = waiting_cells(logged, batch, next);
    if (waiting.empty()) continue;
    if (interrupted()) return false;
    BatchRunner runner(*planned.batch, std::move(waiting), session_, book_of(logged),
                       follower(*planned.batch, batches, of_next_turn));
    if (!runner.run_round(next.accepted)) return false;
  }
  session_.retire();  // each round has processes of its own
  return true;
}

// Those that get this round.
std::vector<CellRun*> Supervisor::waiting_cells(LoggedFigure& logged, std::size_t batch, const Next& next) {
  std::vector<CellRun*> waiting;
  for (CellRun& run : logged.figure.batches[batch].cells) {
    const bool gets_it = waits(run, next.accepted) && run.rounds.size() == next.round;
    if (gets_it && urgency_of(run) == next.urgency) waiting.push_back(&run);
  }
  return waiting;
}

CellBook Supervisor::book_of(LoggedFigure& logged) {
  return {logged.figure.figure, logged.log, watch_, progress_, time_};
}

}  // namespace allocbench::front
