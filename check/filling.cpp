#include "check/filling.hpp"

#include <algorithm>

namespace allocbench::check {
namespace {

// These bounds limit the time of a run if even the small heap of an allocator serves many blocks.
constexpr std::uint32_t most_slots_of_a_lane = 64;
constexpr std::uint32_t most_requests_of_a_step = 1024;

std::uint32_t lanes_of(const Step& step, const Model& model) {
  std::uint32_t lanes = 0;
  for (std::uint32_t rank = 0; rank < model.lanes(); ++rank) lanes += step.lanes.contains(rank) ? 1 : 0;
  return std::max(1u, lanes);
}

// Returns how many blocks of the step's size fit into a fresh heap. If the step spreads over all sizes, the blocks are
// counted in equal numbers of each size.
std::uint32_t capacity_for(const Step& step, const std::vector<std::uint32_t>& capacities) {
  if (!step.spread) return capacities[step.size];
  double heaps_per_block = 0;
  for (const std::uint32_t capacity : capacities) heaps_per_block += 1.0 / std::max(1u, capacity);
  return static_cast<std::uint32_t>(static_cast<double>(capacities.size()) / heaps_per_block);
}

std::uint32_t slots_to_fill(const Step& step, const Model& model, const std::vector<std::uint32_t>& capacities) {
  const std::uint32_t lanes = lanes_of(step, model);
  const std::uint32_t capacity = capacity_for(step, capacities);
  const std::uint32_t requests = std::min(capacity + capacity / 4 + 1, most_requests_of_a_step);
  return std::min((requests + lanes - 1) / lanes, most_slots_of_a_lane);
}

}  // namespace

Model filled(const Model& model, const std::vector<std::uint32_t>& capacities) {
  if (!model.fills()) return model;
  std::vector<std::uint32_t> width(model.slots(), 1);
  for (const Step& step : model.steps) {
    if (!step.fills || step.action != Action::malloc) continue;
    width[step.slot] = std::max(width[step.slot], slots_to_fill(step, model, capacities));
  }
  std::vector<std::uint32_t> first(width.size(), 0);
  for (std::size_t slot = 1; slot < width.size(); ++slot) first[slot] = first[slot - 1] + width[slot - 1];
  Model result = model;
  result.steps.clear();
  for (Step step : model.steps) {
    const std::uint32_t times = step.fills ? width[step.slot] : 1;
    step.slot = first[step.slot];
    step.fills = false;
    for (std::uint32_t i = 0; i < times; ++i, ++step.slot) {
      result.steps.push_back(step);
      // The size changes from slot to slot. Otherwise each lane would request one size in all its slots.
      if (step.spread) step.size = (step.size + 1) % static_cast<std::uint32_t>(model.sizes.size());
    }
  }
  return result;
}

}  // namespace allocbench::check
