// The tables of hash_join, and the expected result of their join. Host code, independent of devices.
//
// A tuple is a 32-bit key and the number of its row, which is its payload. Pham et al. 2025 print neither the
// distribution of keys nor the page size; `fk` is this project's choice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/support/random/mix.hpp"

namespace allocbench {

struct JoinInput {
  std::string kind = "fk";  // fk, dup, sel or skew
  std::uint32_t tuples = 0;
  double exponent = 0.75;  // of skew
  std::uint64_t seed = 0;
  friend auto operator<=>(const JoinInput&, const JoinInput&) = default;
};

// Keys by row. Of n tuples each:
//   fk    R has the numbers below n in random order, S draws from them: every tuple of S has one partner
//   dup   R has the numbers below n / 2 twice, S draws from them: two partners
//   sel   as fk, but S draws from the numbers below 16 n: one of 16 tuples has a partner
//   skew  as fk, but S draws key k with a probability proportional to (k + 1)^-exponent (continuous approximation)
struct JoinTables {
  std::vector<std::uint32_t> r;
  std::vector<std::uint32_t> s;
};
JoinTables join_tables(const JoinInput& input);

// A pair of the result.
SIMT_HOST_FN std::uint64_t join_pair(std::uint32_t r_row, std::uint32_t s_row) {
  return std::uint64_t{r_row} << 32 | s_row;
}

// All pairs of rows with equal keys, in no order. For small tables.
std::vector<std::uint64_t> joined_pairs(const JoinTables& tables);

// The digest of the same. Memory: two words per key and row of R.
MultisetDigest joined_digest(const JoinTables& tables);

}  // namespace allocbench
