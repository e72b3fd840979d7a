// A draw unit is a thread, a warp or a block. All callers of a unit share its random decisions.
//
// Paper: Adinetz & Pleiter 2014. The authors call the choice of the unit the branch divergence of a test. If each
// thread decides, the lanes of a warp diverge.
#pragma once

#include <string>
#include <vector>

#include "workloads/support/requests/geometry.hpp"

namespace allocbench {

inline constexpr const char* draw_unit_words[] = {"thread", "warp", "block"};

// Returns the number of each caller's draw. `unit` is one of draw_unit_words.
inline std::vector<std::uint32_t> draw_of_callers(const Geometry& geometry, const std::string& unit) {
  std::vector<std::uint32_t> draws(geometry.callers);
  const std::uint32_t warps_per_block = (geometry.threads_per_block + simt::warp_size - 1) / simt::warp_size;
  for (std::uint32_t caller = 0; caller < geometry.callers; ++caller) {
    const std::uint32_t block = caller / geometry.callers_per_block;
    const std::uint32_t warp = caller % geometry.callers_per_block / geometry.lanes_per_warp;
    draws[caller] = unit == "thread" ? caller : unit == "warp" ? block * warps_per_block + warp : block;
  }
  return draws;
}

}  // namespace allocbench
