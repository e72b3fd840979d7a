// This file has the keys of hash_join as functions of their row, for host and device. So a table of a hundred million
// rows need not be copied to the device.
#pragma once

#include <bit>

#include "workloads/hash_join/tables.hpp"
#include "workloads/support/random/philox.hpp"

namespace allocbench {

// A random permutation of the numbers below `count`. Odd multiplications and shifts permute all numbers of `bits_`
// bits. A result that is not below `count` is mapped again until it is.
class JoinOrder {
 public:
  JoinOrder(std::uint32_t count, const RandomWords& draws)
      : count_(count), bits_(static_cast<std::uint32_t>(std::bit_width(count - 1))), keys_(draws) {}

  SIMT_HOST_FN std::uint32_t operator()(std::uint32_t number) const {
    if (bits_ == 0) return number;
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits_) - 1);
    do {
      for (const std::uint32_t key : keys_.words) {
        number = ((number + key) * 0x9e3779b1u) & mask;
        number ^= number >> (bits_ / 2 + 1);
      }
    } while (number >= count_);
    return number;
  }

 private:
  std::uint32_t count_;
  std::uint32_t bits_;
  RandomWords keys_;
};

// JoinKeys computes the key of each row of R. It also computes the keys of S, unless the input is skew. It uses
// integers, so every device gets the same keys.
struct JoinKeys {
  JoinOrder order;
  std::uint32_t ordered;  // rows of R whose keys come from `order`; an odd number of rows leaves one over
  std::uint32_t copies;   // copies of each key in R
  std::uint32_t values;   // number of values that S draws from
  std::uint64_t seed;
  bool draws_s;  // whether the device may draw S; not for skew, whose powers are rounded

  SIMT_HOST_FN std::uint32_t r(std::uint32_t row) const {
    return row < ordered ? order(row) / copies
                         : ordered / copies;  // the row that is left over has a key without a partner
  }
  SIMT_HOST_FN std::uint32_t s(std::uint32_t row) const { return scale_to(word(row), values); }
  SIMT_HOST_FN std::uint32_t word(std::uint32_t row) const {
    return philox_words(seed, RandomStream::join_probe, row).words[0];
  }
};

// Returns the keys of an input. Throws std::invalid_argument if there is no such input.
JoinKeys join_keys(const JoinInput& input);

}  // namespace allocbench
