// What reset checks of this process found on second instances. Allocators with the same parameters on larger or smaller
// pools need one check between them: the cell's own pool has no part in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

class ResetFindings {
 public:
  // The verdict of a check of this allocator with its parameters, by calls of so many lanes of a warp, on an instance
  // that fits into its pool; else nothing.
  std::optional<std::string> find(const RunSetting& setting, std::uint32_t lanes_per_warp) const;
  // `instance_bytes`: the pool that was drained.
  void keep(const RunSetting& setting, std::uint32_t lanes_per_warp, std::size_t instance_bytes, std::string verdict);

  std::size_t count() const { return findings_.size(); }
  // Calls ended half-way: what was found after the first `count` does not hold.
  void forget_after(std::size_t count);

 private:
  struct Finding {
    std::string allocator;
    ParameterValues parameters;
    std::uint32_t lanes_per_warp;
    std::size_t instance_bytes;
    std::string verdict;
  };
  std::vector<Finding> findings_;
};

}  // namespace allocbench
