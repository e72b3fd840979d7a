#include "workloads/support/verification/leak_findings.hpp"

#include <algorithm>
#include <utility>

namespace allocbench {
namespace {

bool same_requests(const RequestProfile& one, const RequestProfile& other) {
  const Geometry& a = one.geometry;
  const Geometry& b = other.geometry;
  if (a.callers != b.callers || a.threads_per_block != b.threads_per_block || a.lanes_per_warp != b.lanes_per_warp) {
    return false;
  }
  if (one.sizes.is_fixed() != other.sizes.is_fixed()) return false;
  if (one.sizes.is_fixed()) return one.sizes.fixed_bytes() == other.sizes.fixed_bytes();
  return std::equal(one.sizes.array().begin(), one.sizes.array().begin() + a.callers, other.sizes.array().begin());
}

}  // namespace

std::optional<LeakResult> LeakFindings::find(const RunSetting& setting, const RequestProfile& profile) const {
  for (const Finding& each : findings_) {
    if (each.allocator == setting.traits().name && each.parameters == setting.parameters &&
        each.instance_bytes < setting.pool_bytes && same_requests(each.profile, profile)) {
      return each.result;
    }
  }
  return std::nullopt;
}

void LeakFindings::keep(const RunSetting& setting, const RequestProfile& profile, std::size_t instance_bytes,
                        LeakResult result) {
  findings_.push_back(
      {std::string(setting.traits().name), setting.parameters, profile, instance_bytes, std::move(result)});
}

void LeakFindings::forget_after(std::size_t count) {
  if (count < findings_.size())
    findings_.erase(findings_.begin() + static_cast<std::ptrdiff_t>(count), findings_.end());
}

}  // namespace allocbench
