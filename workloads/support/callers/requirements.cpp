#include "workloads/support/callers/requirements.hpp"

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

std::string why_unsupported(const Geometry& geometry, std::uint64_t largest_request, const RunSetting& setting) {
  if (setting.traits().whole_warp_calls && !geometry.whole_warps()) {
    return setting.display_name() + " needs all " + std::to_string(simt::warp_size) +
           " lanes of a warp to call together; this cell has " + std::to_string(geometry.lanes_per_warp) +
           " calling lanes per warp, " + std::to_string(geometry.threads_per_block) + " threads per block and " +
           std::to_string(geometry.callers) + " callers";
  }
  const std::size_t limit = setting.max_request();
  if (largest_request > limit) {
    return setting.display_name() + " serves requests up to " + std::to_string(limit) + " B here, asked for " +
           std::to_string(largest_request) + " B";
  }
  return {};
}

std::string why_torn_warps(const std::string& draw_unit, const RunSetting& setting) {
  if (!setting.traits().whole_warp_calls || draw_unit != "thread") return {};
  return setting.display_name() + " needs all lanes of a warp to call together; divergence per thread splits warps";
}

std::string why_recycling(std::uint64_t live_bytes, const RunSetting& setting) {
  if (!setting.traits().recycles_unfreed || live_bytes <= setting.pool_bytes) return {};
  return setting.display_name() + " hands out blocks again that are in use once " + bytes_text(setting.pool_bytes) +
         " were asked for; this cell keeps " + bytes_text(live_bytes) + " in use";
}

std::string why_too_many_free(std::uint64_t bytes, double free_share, const RunSetting& setting) {
  const auto ask = setting.allocator.functions.why_too_many_free;
  const std::string why = ask == nullptr ? "" : ask(setting.pool_bytes, setting.parameters, bytes, free_share);
  return why.empty() ? why : setting.display_name() + " cannot be filled and freed here: " + why;
}

}  // namespace allocbench
