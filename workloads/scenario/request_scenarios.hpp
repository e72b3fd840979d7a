// This file lists the kinds of requests that Pham et al. 2025 run (figures 2 and 14), by name.
//
// "Mixed" means 4 to 8,192 bytes, each size with the same probability. Section 5.2.3 gives 8,196 as the largest size,
// but it also gives a limit of 8,192.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

struct RequestScenario {
  std::string_view name;
  std::uint32_t min_bytes;
  std::uint32_t max_bytes;
  bool frees_at_once;

  bool is_mixed() const { return min_bytes != max_bytes; }

  // Returns the size of the blocks that are in use before the timed requests. It is the size of the timed requests (the
  // largest one if they are mixed), but at least 256 B, a page of the paper's pool. Between smaller blocks, RW_malloc
  // would find no run of free pages.
  std::uint32_t occupant_bytes() const { return max_bytes < 256 ? 256 : max_bytes; }

  RequestSizes request_sizes(std::uint32_t callers, std::uint64_t seed) const {
    return is_mixed() ? RequestSizes::uniform(min_bytes, max_bytes, callers, seed) : RequestSizes::fixed(max_bytes);
  }
};

std::vector<std::string> request_scenario_names();
// Returns the scenario. Throws std::out_of_range for an unknown name.
RequestScenario request_scenario(std::string_view name);

}  // namespace allocbench
