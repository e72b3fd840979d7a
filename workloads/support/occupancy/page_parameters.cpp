#include "workloads/support/occupancy/page_parameters.hpp"

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/occupancy/pre_occupation.hpp"

namespace allocbench {

std::string why_pages_unsupported(const PageParameters& pages, std::uint64_t live_bytes, const Geometry& callers,
                                  const RunSetting& setting) {
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees all blocks of a session at once; pages here outlive threads";
  }
  const std::string occupied = PreOccupation::unsupported(setting, pages.page_bytes, pages.free_share);
  if (!occupied.empty()) return occupied;
  const auto in_use = static_cast<std::uint64_t>(static_cast<double>(setting.pool_bytes) * (1 - pages.free_share));
  const std::string recycled = why_recycling(in_use + live_bytes, setting);
  if (!recycled.empty()) return recycled;
  return why_unsupported(callers, pages.page_bytes, setting);
}

}  // namespace allocbench
