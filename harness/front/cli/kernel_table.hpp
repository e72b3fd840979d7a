// Measurements of kernels by Nsight Compute, read from its CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace allocbench::front {

// One launch. Values that the table of the tool lacks are absent.
struct MeasuredKernel {
  std::string name;  // of the function object that the kernel runs
  std::optional<double> seconds;
  std::optional<double> registers;
  std::optional<double> occupancy;           // per cent of the warps that could be resident
  std::optional<double> atomics_per_second;  // sectors of atomics at the L2 cache
  std::string top_stall;                     // main cause of waiting of a warp
  double top_stall_share = 0;                // of the time that warps wait
};

// `csv` is the raw page of ncu: a line of names, a line of units, and a line per launch. Throws UsageError for any
// other text.
std::vector<MeasuredKernel> read_kernels(const std::string& csv);

std::string kernel_table(const std::vector<MeasuredKernel>& kernels);

// The metrics and sections that read_kernels() needs, as options of ncu.
std::vector<std::string> options_of_ncu();

}  // namespace allocbench::front
