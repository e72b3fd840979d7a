// These types describe a workload, its histograms and its kernels. This header contains no device code, because the
// host side of the worker includes it.
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
  std::string_view paper;    // authors and section of the paper with this test
  std::string_view summary;  // one sentence
  std::string_view phases;   // timed phases in order, separated by blanks
  // Names, separated by blanks, of untimed kernels whose registers are reported.
  std::string_view untimed_kernels = {};
  bool null_expected = false;  // whether nulls are only counted, as in exhaustion tests
  // Whether the workload keeps its own data in its blocks. check_recorded() then compares the data with the expected
  // values after every sample and throws CellFailure if they differ. The adaptor Checked fills blocks itself, so such a
  // workload runs without it.
  bool writes_blocks = false;
  // Whether the workload is a whole program with an oracle. Its kernels are compiled for all designs, but not for
  // ablations and allocators that are broken on purpose.
  bool application = false;
};

// A histogram of mallocs or warps. Each bin begins at its first value and ends before the first value of the next bin.
struct Histogram {
  std::string name;
  std::map<std::uint64_t, std::uint64_t> bins;  // counts by the first value of each bin
};

// Registers and memory of one kernel.
struct KernelInfo {
  std::string phase;  // phase that launches it, or one of WorkloadTraits::untimed_kernels
  simt::KernelAttributes attributes;
};

}  // namespace allocbench
