// These types are the tables of hash_join and the expected result of their join. This is host code and does not depend
// on devices.
//
// A tuple is a 32-bit key and, as its payload, the number of its row. Pham et al. 2025 state neither the distribution
// of keys nor the page size. `fk` is this project's choice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/support/random/mix.hpp"

namespace allocbench {

struct JoinInput {
  std::string kind = "fk";  // fk, dup, sel or skew
  std::uint32_t tuples = 0;
  double exponent = 0.75;  // exponent for `skew`
  std::uint64_t seed = 0;
  friend auto operator<=>(const JoinInput&, const JoinInput&) = default;
};

// The key of each row. Both tables have n tuples:
//   fk    R has the numbers below n in random order. S draws from them, so every tuple of S has one partner.
//   dup   R has each number below n / 2 twice. S draws from them, so every tuple of S has two partners.
//   sel   R is as in fk. S draws from the numbers below 16 n, so on average one of 16 tuples has a partner.
//   skew  R is as in fk. S draws key k with a probability proportional to (k + 1)^-exponent (continuous approximation).
struct JoinTables {
  std::vector<std::uint32_t> r;
  std::vector<std::uint32_t> s;
};
JoinTables join_tables(const JoinInput& input);

// Returns a pair of the result as one word.
SIMT_HOST_FN std::uint64_t join_pair(std::uint32_t r_row, std::uint32_t s_row) {
  return std::uint64_t{r_row} << 32 | s_row;
}

// Returns all pairs of rows with equal keys, in no particular order. Use this function for small tables.
std::vector<std::uint64_t> joined_pairs(const JoinTables& tables);

// Returns the digest of all pairs. It takes a word of memory for each possible key of R and a word for each row of R.
MultisetDigest joined_digest(const JoinTables& tables);

}  // namespace allocbench
