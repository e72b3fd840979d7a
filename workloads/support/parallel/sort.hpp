// Sorting in device memory, with CUB's radix sort on CUDA and the C++ standard library on the CPU back end. It has its
// own units for the same reason as scan.hpp.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

// Stable sorts of pairs of 32-bit keys and values.
class PairSort {
 public:
  // For up to this many pairs.
  explicit PairSort(std::uint32_t most);

  // Sorts by the key bits begin_bit to end_bit - 1. Enqueued on the stream. The inputs are not changed.
  void run(simt::Stream& stream, std::uint32_t count, std::uint32_t begin_bit, std::uint32_t end_bit,
           const std::uint32_t* keys, const std::uint32_t* values, std::uint32_t* sorted_keys,
           std::uint32_t* sorted_values);

 private:
  simt::Buffer<std::byte> scratch_;
};

// Run-length encoding of 32-bit keys: for each run of equal neighbours the key and the length.
class RunLengths {
 public:
  explicit RunLengths(std::uint32_t most);

  void run(simt::Stream& stream, std::uint32_t count, const std::uint32_t* keys, std::uint32_t* once,
           std::uint32_t* lengths, std::uint32_t* runs);

 private:
  simt::Buffer<std::byte> scratch_;
};

// Sorts of 64-bit words.
class WordSort {
 public:
  explicit WordSort(std::uint32_t most);

  // Enqueued on the stream. The input is not changed.
  void run(simt::Stream& stream, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count);

 private:
  simt::Buffer<std::byte> scratch_;
};

// One such sort. Waits for its end.
void sort_words(simt::Stream& stream, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count);

}  // namespace allocbench
