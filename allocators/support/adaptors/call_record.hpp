// These types hold the results of the Counted adaptor in device memory: sums over all calls, and a record of each
// malloc. Both device code and host reports use them.
#pragma once

#include "simt/operation_counts.hpp"

namespace allocbench {

struct CallCounts {
  std::uint64_t calls = 0;
  simt::OperationCounts operations;
};

// The host sets all values to zero before a pass.
struct CallSums {
  CallCounts mallocs;
  CallCounts frees;
};

struct MallocRecord {
  std::uint32_t thread;      // rank in the grid
  std::uint32_t steps;       // steps in the allocator's StepUnit; 0 for turns, which follow from the ticket
  std::uint32_t ticket;      // ticket of the request, or simt::nothing_noted, for example if the queue was empty
  std::uint16_t lane;        // number of the lane in its warp
  std::uint16_t pages_seen;  // number of free pages that malloc found (simt::Note::pages_seen), or nothing_seen
};
inline constexpr std::uint16_t nothing_seen = 0xffff;

}  // namespace allocbench
