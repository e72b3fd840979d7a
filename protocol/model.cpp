#include "protocol/model.hpp"

#include <algorithm>

namespace allocbench::protocol {

std::uint32_t Model::slots() const {
  std::uint32_t slots = 0;
  for (const ModelStep& step : steps) slots = std::max(slots, step.slot + 1);
  return slots;
}

std::uint64_t Model::requests_per_launch() const {
  const auto requests = std::count_if(steps.begin(), steps.end(),
                                      [](const ModelStep& step) { return step.action == ModelAction::malloc; });
  return static_cast<std::uint64_t>(requests) * rounds * lanes();
}

bool Model::asks_too_much() const {
  return std::any_of(sizes.begin(), sizes.end(),
                     [](const ModelSize& size) { return size.bytes >= least_refused_bytes; });
}

bool Model::has_partial_warps() const {
  const bool partial_calls = std::any_of(steps.begin(), steps.end(), [](const ModelStep& step) {
    return step.action != ModelAction::barrier && step.lanes.every != 1;
  });
  return partial_calls || threads_per_block % 32 != 0;
}

bool Model::fills() const {
  return std::any_of(steps.begin(), steps.end(), [](const ModelStep& step) { return step.fills; });
}

std::string broken_rule(const Model& model) {
  // These bounds keep models small, because a search runs a model thousands of times.
  const auto outside = [](std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    return value < low || value > high;
  };
  if (model.name.empty()) return "a model needs a name";
  if (outside(model.kernels, 1, 16)) return "kernels: from 1 to 16";
  if (outside(model.blocks, 1, 64)) return "blocks: from 1 to 64";
  if (outside(model.threads_per_block, 1, 1024)) return "threads_per_block: from 1 to 1024";
  if (model.lanes() > 1024) return "at most 1024 lanes in all";
  if (outside(model.rounds, 1, 10000)) return "rounds: from 1 to 10000";
  if (outside(model.launches, 1, 100)) return "launches: from 1 to 100";
  if (model.resets && model.refills) return "reset, refill: at most one of them";
  if (model.sizes.empty()) return "sizes: at least one";
  if (model.steps.empty()) return "steps: at least one";
  if (model.sizes.size() > 256) return "sizes: at most 256";
  if (model.steps.size() > 256) return "steps: at most 256";
  for (const ModelSize& size : model.sizes) {
    if (size.bytes == 0 && size.pool_share == 0) return "sizes: 0 bytes";
  }
  for (const ModelStep& step : model.steps) {
    if (step.slot >= 256) return "slot: from 0 to 255";
    if (step.lanes.every == 0 || step.lanes.first >= step.lanes.every)
      return "lanes: `first` must be less than `every`";
    if (step.action == ModelAction::malloc && step.size >= model.sizes.size())
      return "size: must be an index of `sizes`";
    if (step.action == ModelAction::free && step.from >= model.lanes()) return "from: must be a lane of the model";
    if (step.action == ModelAction::barrier && step.lanes.every != 1) return "barrier: all lanes must take part";
    if (step.fills && model.null_is_failure) return "fill, null: the model must allow null pointers";
  }
  return {};
}

}  // namespace allocbench::protocol
