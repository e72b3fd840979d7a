// Findings are the results of this process's leak and reset checks on separate instances or in the device heap. Cells
// of an allocator with the same parameters and calls share a result, unless the pool of the check was larger than the
// pool of the later cell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/leak_result.hpp"

namespace allocbench {

inline bool same_calls(std::uint32_t one_lanes, std::uint32_t other_lanes) { return one_lanes == other_lanes; }
inline bool same_calls(const RequestProfile& one, const RequestProfile& other) {
  const Geometry& a = one.geometry;
  const Geometry& b = other.geometry;
  if (a.callers != b.callers || a.threads_per_block != b.threads_per_block || a.lanes_per_warp != b.lanes_per_warp ||
      one.sizes.is_fixed() != other.sizes.is_fixed()) {
    return false;
  }
  if (one.sizes.is_fixed()) return one.sizes.fixed_bytes() == other.sizes.fixed_bytes();
  return std::equal(one.sizes.array().begin(), one.sizes.array().begin() + a.callers, other.sizes.array().begin());
}

template <class Calls, class Verdict>
class Findings {
 public:
  // Returns the result of an earlier check of this allocator with the same parameters and calls, if the pool of that
  // check was not larger than this cell's pool.
  std::optional<Verdict> find(const RunSetting& setting, const Calls& calls) const {
    for (const Finding& each : findings_) {
      if (each.allocator == setting.traits().name && each.parameters == setting.parameters &&
          each.instance_bytes <= setting.pool_bytes && same_calls(each.calls, calls)) {
        return each.verdict;
      }
    }
    return std::nullopt;
  }
  // Stores a verdict. `instance_bytes` is the pool of the check; 0 means the device heap.
  void keep(const RunSetting& setting, Calls calls, std::size_t instance_bytes, Verdict verdict) {
    findings_.push_back(
        {std::string(setting.traits().name), setting.parameters, std::move(calls), instance_bytes, std::move(verdict)});
  }

  std::size_t count() const { return findings_.size(); }
  // Drops the results after the first `count`. The later results are invalid if a deadline ended calls half-way.
  void forget_after(std::size_t count) {
    while (findings_.size() > count) findings_.pop_back();
  }

 private:
  struct Finding {
    std::string allocator;
    ParameterValues parameters;
    Calls calls;
    std::size_t instance_bytes;
    Verdict verdict;
  };
  std::vector<Finding> findings_;
};

using LeakFindings = Findings<RequestProfile, LeakResult>;
using ResetFindings = Findings<std::uint32_t, std::string>;  // the calls are the number of calling lanes per warp

}  // namespace allocbench
