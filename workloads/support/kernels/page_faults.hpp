// PageFaults counts the failures of one sample whose kernels keep records in pages.
#pragma once

#include <cstdint>

namespace allocbench {

struct PageFaults {
  std::uint64_t nulls;      // requests that returned null
  std::uint64_t lost;       // records without a page
  std::uint64_t broken;     // chains with a header that differs from what its writer wrote
  std::uint64_t overflows;  // lists that exceed the memory of the workload
};

}  // namespace allocbench
