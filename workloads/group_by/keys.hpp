// The keys of group_by, and the expected groups. Host code, independent of devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/support/random/mix.hpp"

namespace allocbench {

// Pham et al. 2025, sec. 6.2, print a Gaussian without its parameters: the sigmas are assumed.
struct GroupInput {
  std::string kind = "gauss";
  std::uint32_t keys = 0;
  double exponent = 1;  // of zipf
  std::uint64_t seed = 0;
  friend auto operator<=>(const GroupInput&, const GroupInput&) = default;
};

// A 32-bit key per row:
//   gauss         round(2^31 + 2^28 z), z standard normal, clamped: nearly all keys differ
//   gauss_narrow  the same with 2^20: two values of the first byte
//   few           gauss_narrow rounded down to multiples of 2^12: about two thousand groups
//   uniform       all values alike
//   zipf          a hash of k, k with a probability proportional to (k + 1)^-exponent
//   one           one value
std::vector<std::uint32_t> group_keys(const GroupInput& input);

// A group as one element of a digest: its key, its number of rows, their sum and the sum of their mixes.
SIMT_HOST_FN std::uint64_t group_element(std::uint32_t key, const MultisetDigest& rows) {
  return mix64(rows.sum + mix64(rows.mixed + mix64(rows.mixed_again + mix64(std::uint64_t{key} << 32 | rows.count))));
}

// The expected result of a grouping in four passes by bytes.
struct GroupSums {
  MultisetDigest groups;        // of group_element()
  std::uint64_t lists[4] = {};  // non-empty ones after each pass
  std::uint64_t pages[4] = {};  // of these lists, if all but the last of a list are full
};
struct ExpectedGroups : GroupSums {
  std::vector<std::uint64_t> records{};  // sorted (key, row), of small inputs
};
ExpectedGroups expected_groups(const std::vector<std::uint32_t>& keys, std::uint32_t records_per_page);

// The keys and what their grouping must give, made once per process, or once for all processes of a run
// (workloads/support/inputs/stored_value.hpp): the same input comes back with every allocator.
struct GroupReference {
  std::vector<std::uint32_t> keys;
  ExpectedGroups expected;
};
const GroupReference& group_reference(const GroupInput& input, std::uint32_t records_per_page);

// The first difference between lists and groups. Empty if every list is one group with exactly its rows. `records` are
// (key, row), and `lists` has the list of each record. For small inputs.
std::string grouping_problem(const ExpectedGroups& expected, const std::vector<std::uint64_t>& records,
                             const std::vector<std::uint32_t>& lists);

}  // namespace allocbench
