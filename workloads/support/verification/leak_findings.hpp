// What leak checks of this process found on instances of their own, or in the device heap. Cells of one allocator that
// ask for the same blocks need one check between them: the cell's pool has no part in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/leak_result.hpp"

namespace allocbench {

class LeakFindings {
 public:
  // Nothing where no check of this allocator with its parameters made such requests on an instance smaller than
  // `pool_bytes`.
  std::optional<LeakResult> find(const RunSetting& setting, const RequestProfile& profile) const;
  // `instance_bytes`: the pool that the rounds ran on; 0: the device heap.
  void keep(const RunSetting& setting, const RequestProfile& profile, std::size_t instance_bytes, LeakResult result);

  std::size_t count() const { return findings_.size(); }
  // Calls ended half-way: what was found after the first `count` does not hold.
  void forget_after(std::size_t count);

 private:
  struct Finding {
    std::string allocator;
    ParameterValues parameters;
    RequestProfile profile;
    std::size_t instance_bytes;
    LeakResult result;
  };
  std::vector<Finding> findings_;
};

}  // namespace allocbench
