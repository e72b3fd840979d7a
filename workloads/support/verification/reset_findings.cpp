#include "workloads/support/verification/reset_findings.hpp"

#include <utility>

namespace allocbench {

std::optional<std::string> ResetFindings::find(const RunSetting& setting, std::uint32_t lanes_per_warp) const {
  for (const Finding& each : findings_) {
    if (each.allocator == setting.traits().name && each.parameters == setting.parameters &&
        each.lanes_per_warp == lanes_per_warp && each.instance_bytes <= setting.pool_bytes) {
      return each.verdict;
    }
  }
  return std::nullopt;
}

void ResetFindings::keep(const RunSetting& setting, std::uint32_t lanes_per_warp, std::size_t instance_bytes,
                         std::string verdict) {
  findings_.push_back(
      {std::string(setting.traits().name), setting.parameters, lanes_per_warp, instance_bytes, std::move(verdict)});
}

void ResetFindings::forget_after(std::size_t count) {
  if (count < findings_.size())
    findings_.erase(findings_.begin() + static_cast<std::ptrdiff_t>(count), findings_.end());
}

}  // namespace allocbench
