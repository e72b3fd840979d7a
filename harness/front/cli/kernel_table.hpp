// This file reads measurements of kernels from the CSV output of Nsight Compute.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace allocbench::front {

// The measurements of one launch. A number that ncu's table does not contain is nullopt.
struct MeasuredKernel {
  std::string name;  // name of the function object that the kernel runs
  std::optional<double> seconds;
  std::optional<double> registers;
  std::optional<double> occupancy;           // resident warps in percent of the most that an SM can hold
  std::optional<double> atomics_per_second;  // sectors of atomics and reductions at the L2 cache, per second
  std::string top_stall;                     // main reason why warps wait
  double top_stall_share = 0;                // share of the waiting time that `top_stall` causes
};

// Reads the launches, except those of the kernel that holds the stream back. `csv` is the raw page of ncu: a line of
// names, a line of units, and a line per launch. Throws UsageError for any other text.
std::vector<MeasuredKernel> read_kernels(const std::string& csv);

std::string kernel_table(const std::vector<MeasuredKernel>& kernels);

// Returns the options of ncu for the metrics and sections that read_kernels() needs.
std::vector<std::string> options_of_ncu();

}  // namespace allocbench::front
