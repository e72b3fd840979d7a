// This file groups the batches of all configs into turns. The batches of a turn share worker processes where they can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/front/plan/plan.hpp"

namespace allocbench::front {

// The batches of one allocator in all configs. Batches with the same device heap are adjacent, because they can share a
// process. Among these, batches with the same pool and parameters are adjacent, because they share an instance of the
// allocator and its filled pools.
using Turn = std::vector<const Batch*>;

std::vector<Turn> make_turns(const std::vector<const Batch*>& batches);

// Returns whether a worker that was started for one batch can also measure the next one, if no cell of the next batch
// uses a share of the device heap.
bool shares_process(const Batch& running, const Batch& next);

// Returns the number of worker processes of a turn in a round, if no cell fails and none uses a share of the device
// heap. One sample per cell is assumed for an allocator that only a new process makes fresh.
std::size_t process_starts(const Turn& turn, std::uint64_t round);

}  // namespace allocbench::front
