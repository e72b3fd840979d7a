// Results of the Counted adaptor in device memory: sums over all calls, and a record of each malloc. Plain data, shared
// by device code and host reports.
#pragma once

#include "simt/operation_counts.hpp"

namespace allocbench {

struct CallCounts {
  std::uint64_t calls = 0;
  simt::OperationCounts operations;
};

// All zero before a pass.
struct CallSums {
  CallCounts mallocs;
  CallCounts frees;
};

struct MallocRecord {
  std::uint32_t thread;      // rank in the grid
  std::uint32_t steps;       // in the allocator's StepUnit; 0 for turns, which follow from the ticket
  std::uint32_t ticket;      // or simt::nothing_noted, for example if the queue was empty
  std::uint16_t lane;        // of its warp
  std::uint16_t pages_seen;  // or nothing_seen
};
inline constexpr std::uint16_t nothing_seen = 0xffff;

}  // namespace allocbench
