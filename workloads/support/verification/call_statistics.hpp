// CallStatistics are the counts of a cell's passes with Counted<A>, per pass and over all passes. This is host code and
// does not depend on devices.
//
// TAS and WAS are defined as in Pham et al. 2025, section 3.2. TAS is the mean number of steps of a malloc. WAS is the
// mean, over all warps, of the largest number of steps of a lane. If threads call malloc more than once, the n-th
// mallocs of the lanes of a warp belong together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allocators/support/adaptors/call_record.hpp"
#include "allocators/support/contract/traits.hpp"
#include "workloads/support/contract/traits.hpp"

namespace allocbench {

class CallStatistics {
 public:
  explicit CallStatistics(StepUnit unit = StepUnit::update) : unit_(unit) {}

  // Adds a pass: the sums over its calls, and the records of its mallocs, in order for each thread.
  void add_pass(const CallSums& sums, std::span<const MallocRecord> records);

  // Returns a value per pass for each metric (harness/worker/metrics.cpp).
  const std::vector<std::pair<std::string, std::vector<double>>>& values() const { return values_; }
  // Returns the histograms over all passes. "steps" counts mallocs by their number of steps, in bins that begin at 0,
  // 1, 2, 4, 8 ... "pages_found" counts collaborative searches by the number of pages that the warp finds in the first
  // round, with a bin per number.
  const std::vector<Histogram>& histograms() const { return histograms_; }

 private:
  void add_calls(const CallCounts& calls, const std::string& call);
  void add_steps(std::span<const MallocRecord> records);
  template <class StepsOf>
  void add_steps(std::span<const MallocRecord> records, const StepsOf& steps_of);
  void add_pages_seen(std::span<const MallocRecord> records);
  void add(const std::string& metric, double value);
  Histogram& histogram(const std::string& name);

  StepUnit unit_;
  std::vector<std::pair<std::string, std::vector<double>>> values_;
  std::vector<Histogram> histograms_;
};

}  // namespace allocbench
