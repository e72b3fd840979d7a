#include "harness/front/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

struct Totals {
  std::size_t cells = 0;
  std::uint64_t samples = 0;
};

std::uint64_t samples_of(const Cell& cell) { return cell.repetitions * cell.rounds; }

std::string samples_text(const Cell& cell) {
  if (cell.rounds == 1) return "at most " + counted(cell.repetitions, "sample");
  return fmt::format("{} to {} of at most {}", cell.least_rounds, counted(cell.rounds, "round"),
                     counted(cell.repetitions, "sample"));
}

std::string batch_text(const Plan& plan, std::size_t index, std::optional<std::uint64_t> heap_bytes) {
  const Batch& batch = plan.batches[index];
  std::string text =
      fmt::format("batch {} of {}: {}, pool {}, device heap {}, {}\n", index + 1, plan.batches.size(), batch.label,
                  format_bytes(batch.pool_bytes), heap_bytes ? format_bytes(*heap_bytes) : "unknown",
                  counted(batch.cells.size(), "cell"));
  for (const Cell& cell : batch.cells) {
    text += fmt::format("  {}  {}  {}, deadline {}\n", cell.id, cell.name, samples_text(cell),
                        format_limit(cell.deadline_seconds));
  }
  return text;
}

// Returns one line per allocator, in the order of the config.
std::string allocators_text(const Plan& plan) {
  std::vector<std::pair<std::string, Totals>> totals;
  std::map<std::string, std::size_t> place_of;
  for (const Batch& batch : plan.batches) {
    const auto [place, is_new] = place_of.emplace(batch.label, totals.size());
    if (is_new) totals.push_back({batch.label, {}});
    Totals& total = totals[place->second].second;
    total.cells += batch.cells.size();
    for (const Cell& cell : batch.cells) total.samples += samples_of(cell);
  }
  std::string text;
  for (const auto& [label, total] : totals) {
    text += fmt::format("{}: {}, at most {} of {}\n", label, counted(total.cells, "cell"),
                        counted(total.samples, "sample"), plan.batches.front().cells.front().workload);
  }
  return text;
}

}  // namespace

std::string describe_plan(const Plan& plan, const std::vector<std::optional<std::uint64_t>>& device_heap_bytes) {
  std::string text;
  std::set<std::string> series;
  std::uint64_t samples = 0;
  std::uint64_t peak_bytes = 0;
  double deadlines = 0;
  for (std::size_t i = 0; i < plan.batches.size(); ++i) {
    const Batch& batch = plan.batches[i];
    const std::uint64_t heap = device_heap_bytes[i].value_or(0);
    peak_bytes = std::max(peak_bytes, batch.pool_is_device_heap ? heap : batch.pool_bytes + heap);
    text += batch_text(plan, i, device_heap_bytes[i]);
    for (const Cell& cell : batch.cells) {
      samples += samples_of(cell);
      // Rounds start only within the bound, but the last round may use its whole deadline.
      deadlines += cell.rounds == 1 ? cell.deadline_seconds : cell.wall_bound_seconds + cell.deadline_seconds;
      series.insert(cell.series);
    }
  }
  text += "\n" + allocators_text(plan);
  text += fmt::format("\n{}: {} in {} and {}, at most {}, back end {}\n", plan.figure,
                      counted(plan.cell_count(), "cell"), counted(series.size(), "series"),
                      counted(plan.batches.size(), "batch"), counted(samples, "sample"), plan.backend);
  return text + fmt::format("Worst case: {} plus worker start-up. Peak pool and heap: {}.\n",
                            format_duration(deadlines), format_bytes(peak_bytes));
}

}  // namespace allocbench::front
