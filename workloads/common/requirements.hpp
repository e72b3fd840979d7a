// What a cell must satisfy before it is worth running: asked of the traits, so that workloads never guess or crash.
#pragma once

#include <limits>
#include <string>

#include "allocators/contract/allocator.hpp"
#include "workloads/common/geometry.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/verification/pointer_check.hpp"

namespace allocbench {

// Common members of workloads that take a number of blocks; see Vinkler & Havran 2015, table 1.
inline constexpr std::uint32_t most_threads_per_block = 1024;
inline constexpr std::uint32_t most_blocks = 1u << 20;

// Rounds up to a multiple of any number; 0 and 1 leave the size as it is.
inline std::uint64_t pad(std::uint64_t bytes, std::uint64_t multiple) {
  return multiple < 2 ? bytes : (bytes + multiple - 1) / multiple * multiple;
}

// Why allocator A cannot serve these requests; empty when it can.
template <class A>
std::string why_unsupported(const Geometry& geometry, std::uint64_t largest_request, const RunSetting<A>& setting) {
  if (A::traits.whole_warp_calls && !geometry.whole_warps()) {
    return std::string(A::traits.display_name) + " needs all " + std::to_string(simt::warp_size) +
           " lanes of a warp to call together; this cell has " + std::to_string(geometry.lanes_per_warp) +
           " calling lanes per warp, " + std::to_string(geometry.threads_per_block) + " threads per block and " +
           std::to_string(geometry.callers) + " callers";
  }
  const std::size_t limit = max_request<A>(setting.pool_bytes, setting.allocator);
  if (largest_request > limit) {
    return std::string(A::traits.display_name) + " serves requests up to " + std::to_string(limit) +
           " B here, asked for " + std::to_string(largest_request) + " B";
  }
  return {};
}

// Why allocator A cannot keep this many bytes live at once although it never runs out; empty when it can. For workloads
// that follow pointers inside of their blocks.
template <class A>
std::string why_recycling(std::uint64_t live_bytes, const RunSetting<A>& setting) {
  if (!A::traits.recycles_unfreed || live_bytes <= setting.pool_bytes) return {};
  return std::string(A::traits.display_name) + " hands out blocks again that are in use once " +
         bytes_text(setting.pool_bytes) + " were asked for; this cell keeps " + bytes_text(live_bytes) + " in use";
}

}  // namespace allocbench
