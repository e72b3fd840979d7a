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

}  // namespace

std::string describe_plan(const Plan& plan, const std::vector<std::optional<std::uint64_t>>& device_heap_bytes) {
  std::string text;
  std::map<std::string, Totals> by_allocator;
  std::vector<std::string> labels;  // in the order of the config
  std::set<std::string> series;
  std::uint64_t samples = 0;
  std::uint64_t peak_bytes = 0;
  double deadlines = 0;
  for (std::size_t i = 0; i < plan.batches.size(); ++i) {
    const Batch& batch = plan.batches[i];
    const std::uint64_t heap = device_heap_bytes[i].value_or(0);
    peak_bytes = std::max(peak_bytes, batch.pool_is_device_heap ? heap : batch.pool_bytes + heap);
    text += fmt::format("batch {} of {}: {}, pool {}, device heap {}, {} cells\n", i + 1, plan.batches.size(),
                        batch.label, format_bytes(batch.pool_bytes),
                        device_heap_bytes[i] ? format_bytes(heap) : "unknown", batch.cells.size());
    if (!by_allocator.contains(batch.label)) labels.push_back(batch.label);
    for (const Cell& cell : batch.cells) {
      text += fmt::format("  {}  {}  {} samples, deadline {}\n", cell.id, cell.name, cell.repetitions * plan.rounds,
                          format_duration(cell.deadline_seconds));
      Totals& totals = by_allocator[batch.label];
      ++totals.cells;
      totals.samples += cell.repetitions * plan.rounds;
      samples += cell.repetitions * plan.rounds;
      deadlines += cell.deadline_seconds;
      series.insert(cell.series);
    }
  }
  text += '\n';
  for (const std::string& label : labels) {
    text += fmt::format("{}: {} cells, {} samples of {}\n", label, by_allocator[label].cells,
                        by_allocator[label].samples, plan.batches.front().cells.front().workload);
  }
  text += fmt::format("\n{}: {} cells in {} series and {} batches, {} rounds, {} samples, back end {}\n", plan.figure,
                      plan.cell_count(), series.size(), plan.batches.size(), plan.rounds, samples, plan.backend);
  text +=
      fmt::format("at most {} if every cell uses its whole deadline, besides starting workers; peak pool and heap {}\n",
                  format_duration(deadlines), format_bytes(peak_bytes));
  return text;
}

}  // namespace allocbench::front
