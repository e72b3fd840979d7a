// PageSet is the set of pages or blocks that are in use before a measurement. The positions of the free pages decide
// how long a search for them takes (Pham et al. 2025, sections 4.2 and 5).
#pragma once

#include <bit>
#include <cstdint>

#include "simt/simt.hpp"
#include "workloads/support/random/mix.hpp"

namespace allocbench {

// A set of numbers: either the first `count` numbers, or `chosen` random numbers from 0 to count - 1. If numbers are
// chosen in groups, `chosen` is rounded. The random numbers are those that a random permutation maps below `chosen`.
// The permutation is a Feistel network on the next power of two; numbers beyond the end are mapped again until the
// result is inside. Membership is computed instead of stored, so every thread may query any number.
class PageSet {
 public:
  static PageSet first(std::uint32_t count) {
    PageSet set;
    set.chosen_ = count;
    return set;
  }
  // Returns a random set. `chosen` is at most `count`, and `count` is at least 1. If `cluster` is larger than 1, it
  // must be a power of two. Then groups of `cluster` neighbours are chosen together, and the number of chosen numbers
  // is rounded to whole groups.
  static PageSet by_chance(std::uint32_t count, std::uint32_t chosen, std::uint64_t seed, std::uint32_t cluster = 1) {
    return PageSet(count, chosen, seed, cluster);
  }

  SIMT_HOST_FN bool operator()(std::uint32_t number) const {
    if (bits_ == 0) return number < chosen_;
    number >>= shift_;
    do {
      number = permuted(number);
    } while (number >= count_);
    return number < chosen_;
  }

 private:
  PageSet() = default;
  PageSet(std::uint32_t count, std::uint32_t chosen, std::uint64_t seed, std::uint32_t cluster)
      : shift_(static_cast<std::uint32_t>(std::bit_width(cluster) - 1)),
        count_(((count - 1) >> shift_) + 1),
        chosen_(static_cast<std::uint32_t>((std::uint64_t{chosen} + cluster / 2) >> shift_)),
        bits_(count_ <= 2 ? 2 : static_cast<std::uint32_t>(std::bit_width(count_ - 1))) {
    for (std::uint32_t& key : keys_) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      key = static_cast<std::uint32_t>(seed >> 32);
    }
  }

  // If the number of bits is odd, the widths of the halves alternate from round to round.
  SIMT_HOST_FN std::uint32_t permuted(std::uint32_t number) const {
    std::uint32_t low_bits = bits_ / 2;
    std::uint32_t high_bits = bits_ - low_bits;
    for (const std::uint32_t key : keys_) {
      const std::uint32_t low = number & ((1u << low_bits) - 1);
      const std::uint32_t high = number >> low_bits;
      number = low << high_bits | ((high ^ mix32(low ^ key)) & ((1u << high_bits) - 1));
      const std::uint32_t other = low_bits;
      low_bits = high_bits;
      high_bits = other;
    }
    return number;
  }

  std::uint32_t shift_ = 0;  // log2 of the group size
  std::uint32_t count_ = 0;  // number of groups
  std::uint32_t chosen_ = 0;
  std::uint32_t bits_ = 0;  // bits of the permuted numbers; 0: the first numbers are chosen
  std::uint32_t keys_[6] = {};
};

}  // namespace allocbench
