// Failures in the kernels of a sample that keep records in pages.
#pragma once

#include <cstdint>

namespace allocbench {

struct PageFaults {
  std::uint64_t nulls;      // requests that returned null
  std::uint64_t lost;       // records without a page
  std::uint64_t broken;     // chains with a header that their writer did not leave
  std::uint64_t overflows;  // lists beyond the room that the workload has for them
};

}  // namespace allocbench
