// This file sorts in device memory. It uses CUB's radix sort on CUDA and the C++ standard library on the CPU back end.
// Each back end has its own unit, because CUB needs the CUDA compiler.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

// Sorts pairs of 32-bit keys and values. The sort is stable.
class PairSort {
 public:
  // `most` is the largest number of pairs.
  explicit PairSort(std::uint32_t most);

  // Enqueues a sort by the key bits begin_bit to end_bit - 1. The inputs are not changed.
  void run(simt::Stream& stream, std::uint32_t count, std::uint32_t begin_bit, std::uint32_t end_bit,
           const std::uint32_t* keys, const std::uint32_t* values, std::uint32_t* sorted_keys,
           std::uint32_t* sorted_values);

 private:
  simt::Buffer<std::byte> scratch_;
};

// Encodes runs of 32-bit keys. It gives the number of runs of equal neighbours, and the key and the length of each run.
class RunLengths {
 public:
  explicit RunLengths(std::uint32_t most);

  void run(simt::Stream& stream, std::uint32_t count, const std::uint32_t* keys, std::uint32_t* once,
           std::uint32_t* lengths, std::uint32_t* runs);

 private:
  simt::Buffer<std::byte> scratch_;
};

// Sorts 64-bit words.
class WordSort {
 public:
  explicit WordSort(std::uint32_t most);

  // Enqueues a sort. The input is not changed.
  void run(simt::Stream& stream, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count);

 private:
  simt::Buffer<std::byte> scratch_;
};

// Sorts 64-bit words once and waits for the end.
void sort_words(simt::Stream& stream, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count);

}  // namespace allocbench
