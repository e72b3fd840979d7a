// These functions check conditions that a cell must satisfy before it runs. The conditions follow from the traits and
// limits of the allocator.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/support/requests/geometry.hpp"

namespace allocbench {

struct RunSetting;

// Common limits of workloads with a parameter for the number of thread blocks (Vinkler & Havran 2015, table 1).
inline constexpr std::uint32_t most_threads_per_block = 1024;
inline constexpr std::uint32_t most_blocks = 1u << 20;

// Rounds `bytes` up to a multiple of `multiple`. The multiples 0 and 1 leave the size unchanged.
inline std::uint64_t pad(std::uint64_t bytes, std::uint64_t multiple) {
  return multiple < 2 ? bytes : (bytes + multiple - 1) / multiple * multiple;
}

// Returns why the allocator cannot serve these requests, or an empty text.
std::string why_unsupported(const Geometry& geometry, std::uint64_t largest_request, const RunSetting& setting);

// Returns why the allocator cannot run if each unit of this kind (workloads/support/requests/draw_unit.hpp) decides
// separately whether it calls. Returns an empty text if it can.
std::string why_torn_warps(const std::string& draw_unit, const RunSetting& setting);

// Returns why an allocator that never returns null cannot keep this many bytes in use at once, or an empty text.
// Workloads that follow pointers inside their blocks need this check.
std::string why_recycling(std::uint64_t live_bytes, const RunSetting& setting);

// Returns why the pool cannot be filled with blocks of this size and emptied again. The share `free_share` of the
// blocks is free when further requests begin. Returns an empty text if the pool can be filled and emptied.
std::string why_too_many_free(std::uint64_t bytes, double free_share, const RunSetting& setting);

}  // namespace allocbench
