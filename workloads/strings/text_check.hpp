// This file has the lengths of a column's strings in each round, and the comparison of all texts with the expected
// texts.
#pragma once

#include <string>
#include <vector>

#include "simt/simt.hpp"

namespace allocbench::text {

// Entry i is the length of the string that a round writes to row i, or 0 if the row keeps its string. Round 0 builds
// the column.
using Lengths = std::vector<std::uint32_t>;

// Returns the lengths of all rounds, each with all rows. The rows that change are drawn again in each round.
Lengths draw_lengths(std::uint32_t rows, std::uint32_t rounds, double replaced_share, const Lengths& drawn,
                     std::uint64_t seed);
// Returns the lengths after the last round.
Lengths final_lengths(const Lengths& lengths, std::uint32_t rows);

class TextCheck {
 public:
  TextCheck(simt::Stream& stream, std::uint32_t rows, const std::uint32_t* lengths)
      : stream_(stream), rows_(rows), lengths_(lengths), findings_(2) {}

  void clear();
  // Enqueues a comparison of the strings with their texts after `round`. It is untimed.
  void compare(void* const* strings, std::uint32_t round);
  // Returns the mistakes that the comparisons found, or an empty text.
  std::string problem() const;

 private:
  simt::Stream& stream_;
  std::uint32_t rows_;
  const std::uint32_t* lengths_;  // lengths of all rounds, in device memory
  simt::Buffer<std::uint32_t> findings_;
};

}  // namespace allocbench::text
