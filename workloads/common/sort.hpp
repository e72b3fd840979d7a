// Sorting in device memory by a library: CUB's radix sort on CUDA, the C++ standard library on the CPU back end. In
// units of their own for the same reason as scan.hpp.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

// Stable sort of pairs of 32-bit keys and values by the key bits begin_bit to end_bit - 1.
class PairSort {
 public:
  PairSort(std::uint32_t count, std::uint32_t begin_bit, std::uint32_t end_bit);

  // Enqueued on the stream; the inputs stay as they are.
  void run(simt::Stream& stream, const std::uint32_t* keys, const std::uint32_t* values, std::uint32_t* sorted_keys,
           std::uint32_t* sorted_values);

 private:
  std::uint32_t count_;
  std::uint32_t begin_bit_;
  std::uint32_t end_bit_;
  simt::Buffer<std::byte> scratch_;
};

// Sorts 64-bit words, once. Waits for nothing.
void sort_words(simt::Stream& stream, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count);

}  // namespace allocbench
