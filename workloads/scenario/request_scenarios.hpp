// The kinds of requests that Pham et al. 2025 run, by name: figures 2 and 14.
//
// "Mixed" is 4 to 8,192 bytes, each size equally likely. Section 5.2.3 prints 8,196 as the largest, beside a limit of
// 8,192.
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

  // Size of the blocks that are in use before: the request's own, because RW_malloc finds no run of pages among free
  // single ones. A page of the paper's pool where requests are smaller, and whole chunks under mixed requests.
  std::uint32_t occupant_bytes() const { return max_bytes < 256 ? 256 : max_bytes; }

  RequestSizes request_sizes(std::uint32_t callers, std::uint64_t seed) const {
    return is_mixed() ? RequestSizes::uniform(min_bytes, max_bytes, callers, seed) : RequestSizes::fixed(max_bytes);
  }
};

std::vector<std::string> request_scenario_names();
// Throws std::out_of_range for an unknown name.
RequestScenario request_scenario(std::string_view name);

}  // namespace allocbench
