#include "harness/front/run/supervisor.hpp"

#include "harness/front/run/interrupt.hpp"

namespace allocbench::front {
namespace {

bool selected(const CellHistory* history, Selection selection) {
  const bool finished = history != nullptr && history->end.has_value();
  if (!finished) return selection != Selection::failed;
  return selection != Selection::unfinished && history->end->status != Status::ok;
}

}  // namespace

Supervisor::Supervisor(const Plan& plan, std::vector<std::optional<std::uint64_t>> device_heap_bytes,
                       const RunHistory& history, Selection selection)
    : plan_(plan), device_heap_bytes_(std::move(device_heap_bytes)) {
  std::map<std::string_view, const CellHistory*> by_id;
  for (const CellHistory& cell : history.cells) by_id[cell.id] = &cell;
  for (const Batch& batch : plan.batches) {
    std::vector<CellRun>& runs = runs_.emplace_back();
    for (const Cell& cell : batch.cells) {
      const auto found = by_id.find(cell.id);
      const CellHistory* known = found == by_id.end() ? nullptr : found->second;
      if (!selected(known, selection)) {
        // What timed out earlier still counts for the skip rule.
        if (known != nullptr && known->end && known->end->status == Status::timeout) {
          watch_.note_timeout(cell.series, cell.growth);
        }
        continue;
      }
      runs.push_back({.cell = &cell,
                      .known_to_log = known != nullptr,
                      .attempt = known == nullptr ? 0 : known->attempts,
                      .steps_left = 1 + cell.repetitions * plan.rounds});
    }
  }
}

std::size_t Supervisor::cells_to_run() const {
  std::size_t count = 0;
  for (const auto& runs : runs_) count += runs.size();
  return count;
}

std::uint64_t Supervisor::steps_to_run() const {
  std::uint64_t steps = 0;
  for (const auto& runs : runs_) {
    for (const CellRun& run : runs) steps += run.steps_left;
  }
  return steps;
}

bool Supervisor::run(WorkerSession& session, RunLog& log, Progress& progress) {
  for (std::uint64_t round = 0; round < plan_.rounds; ++round) {
    for (const std::size_t index : batch_order(plan_, round)) {
      std::vector<CellRun*> pending;
      for (CellRun& run : runs_[index]) {
        if (!run.ended) pending.push_back(&run);
      }
      if (pending.empty()) continue;
      if (interrupted()) return false;
      BatchRunner runner(plan_.batches[index], device_heap_bytes_[index].value_or(0), pending,
                         {session, log, watch_, progress});
      if (!runner.run_round(round, round + 1 == plan_.rounds)) return false;
    }
  }
  return true;
}

}  // namespace allocbench::front
