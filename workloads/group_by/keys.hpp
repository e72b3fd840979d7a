// This file has the keys of group_by, and the expected groups. This is host code and does not depend on devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/support/random/mix.hpp"

namespace allocbench {

// GroupInput selects the keys. Pham et al. 2025, sec. 6.2, do not state the parameters of their Gaussian, so our sigmas
// are assumptions.
struct GroupInput {
  std::string kind = "gauss";
  std::uint32_t keys = 0;
  double exponent = 1;  // exponent for `zipf`
  std::uint64_t seed = 0;
  friend auto operator<=>(const GroupInput&, const GroupInput&) = default;
};

// Returns a 32-bit key per row. The kinds of input are:
//   gauss         round(2^31 + 2^28 z) with z standard normal, clamped: of ten million keys, 99 % differ
//   gauss_narrow  the same with 2^20 instead of 2^28: the first byte has two values
//   few           gauss_narrow rounded down to multiples of 2^12: 10,000 keys have about 1,300 groups
//   uniform       all values with the same probability
//   zipf          a hash of k, with the probability of k proportional to (k + 1)^-exponent
//   one           one value
std::vector<std::uint32_t> group_keys(const GroupInput& input);

// Returns a group as one element of a digest. The element is a hash of the key and of the digest of the rows.
SIMT_HOST_FN std::uint64_t group_element(std::uint32_t key, const MultisetDigest& rows) {
  return mix64(rows.sum + mix64(rows.mixed + mix64(rows.mixed_again + mix64(std::uint64_t{key} << 32 | rows.count))));
}

// The expected result of a grouping in four passes by bytes.
struct GroupSums {
  MultisetDigest groups;        // digest of all group_element()s
  std::uint64_t lists[4] = {};  // number of non-empty lists after each pass
  std::uint64_t pages[4] = {};  // number of pages of these lists, if only the last page of a list may be partly filled
};
struct ExpectedGroups : GroupSums {
  std::vector<std::uint64_t> records{};  // sorted (key, row) pairs of small inputs
};
ExpectedGroups expected_groups(const std::vector<std::uint32_t>& keys, std::uint32_t records_per_page);

// The keys and the expected groups. They are made once per process or once per run
// (workloads/support/inputs/stored_value.hpp), because every allocator gets the same input.
struct GroupReference {
  std::vector<std::uint32_t> keys;
  ExpectedGroups expected;
};
const GroupReference& group_reference(const GroupInput& input, std::uint32_t records_per_page);

// Returns the first difference between lists and groups, or an empty text if every list is one group with exactly its
// rows. `records` are (key, row) pairs, and `lists` has the list of each record. Only small inputs are compared in this
// way.
std::string grouping_problem(const ExpectedGroups& expected, const std::vector<std::uint64_t>& records,
                             const std::vector<std::uint32_t>& lists);

}  // namespace allocbench
