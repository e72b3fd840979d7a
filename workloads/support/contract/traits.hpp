// What a workload says about itself, and what a run of it gives. Free of device code: the worker's host side reads it
// too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "protocol/sample.hpp"
#include "simt/common.hpp"

namespace allocbench {

struct WorkloadTraits {
  std::string_view name;  // stable id, snake_case
  std::string_view display_name;
  std::string_view paper;    // who set it, with section
  std::string_view summary;  // one sentence
  std::string_view phases;   // timed phases in order, separated by one blank
  // Kernels that no phase times and whose registers are told, separated by one blank.
  std::string_view untimed_kernels = {};
  bool null_expected = false;  // exhaustion tests: null is counted, not a failure
  // Keeps data of its own in its blocks. Its check_recorded() compares them with the expected ones after every sample
  // and throws CellFailure. The checked adaptor fills blocks itself and is not used here.
  bool writes_blocks = false;
  // A whole program with an oracle: runs with the designs, not with their ablations and not with planted faults.
  bool application = false;
};

// How many of something (mallocs, warps) had a value of at least a bin's first and below the next bin's.
struct Histogram {
  std::string name;
  std::map<std::uint64_t, std::uint64_t> bins;  // by their first value
};

// Registers and memory of one kernel.
struct KernelInfo {
  std::string phase;  // that launches it, or one of WorkloadTraits::untimed_kernels
  simt::KernelAttributes attributes;
};

}  // namespace allocbench
