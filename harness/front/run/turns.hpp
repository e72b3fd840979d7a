// This file groups the batches of all configs into turns. The batches of a turn share worker processes where they can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/plan/plan.hpp"

namespace allocbench::front {

// The batches of each config.
using FigureBatches = std::vector<std::vector<const Batch*>>;

// Batches of one allocator in all configs. Batches with the same device heap are adjacent, because they can
// share a process. Among these, batches with the same pool and parameters are adjacent.
struct Turn {
  std::string allocator;
  std::vector<std::pair<std::size_t, std::size_t>> batches;  // pairs of a config's index and a batch's index
};

std::vector<Turn> make_turns(const FigureBatches& figures);

// Returns whether a worker that was started for one batch can also measure the next one, if no cell of the next batch
// uses a share of the device heap.
bool shares_process(const Batch& running, const Batch& next);

// Returns the number of worker processes of each turn in a round, if no cell fails and none uses a share of the device
// heap. One sample per cell is assumed for an allocator that only a new process makes fresh.
std::vector<std::size_t> process_starts(const std::vector<Turn>& turns, const FigureBatches& figures,
                                        std::uint64_t round);

}  // namespace allocbench::front
