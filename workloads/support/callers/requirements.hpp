// What a cell must satisfy before it runs. The traits say it, so that workloads never guess or crash.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/support/requests/geometry.hpp"

namespace allocbench {

struct RunSetting;

// Common limits of workloads that take a number of blocks; see Vinkler & Havran 2015, table 1.
inline constexpr std::uint32_t most_threads_per_block = 1024;
inline constexpr std::uint32_t most_blocks = 1u << 20;

// Rounds up to a multiple of any number; 0 and 1 leave the size as it is.
inline std::uint64_t pad(std::uint64_t bytes, std::uint64_t multiple) {
  return multiple < 2 ? bytes : (bytes + multiple - 1) / multiple * multiple;
}

// Why the allocator cannot serve these requests; empty when it can.
std::string why_unsupported(const Geometry& geometry, std::uint64_t largest_request, const RunSetting& setting);

// Why the allocator cannot run where each unit of this kind (workloads/support/requests/draw_unit.hpp) decides for
// itself whether it calls; empty when it can.
std::string why_torn_warps(const std::string& draw_unit, const RunSetting& setting);

// Why the allocator cannot keep this many bytes live at once although it never runs out; empty when it can. For
// workloads that follow pointers inside their blocks.
std::string why_recycling(std::uint64_t live_bytes, const RunSetting& setting);

// Why the pool cannot be filled with blocks of this size and freed again, a share of them before requests; empty when
// it can.
std::string why_too_many_free(std::uint64_t bytes, double free_share, const RunSetting& setting);

}  // namespace allocbench
