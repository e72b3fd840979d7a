#include <algorithm>
#include <numeric>
#include <vector>

#include "workloads/common/sort.hpp"

namespace allocbench {

PairSort::PairSort(std::uint32_t count, std::uint32_t begin_bit, std::uint32_t end_bit)
    : count_(count), begin_bit_(begin_bit), end_bit_(end_bit) {}

// Device memory is the host's here, and streams order nothing.
void PairSort::run(simt::Stream&, const std::uint32_t* keys, const std::uint32_t* values, std::uint32_t* sorted_keys,
                   std::uint32_t* sorted_values) {
  const std::uint64_t mask = ((std::uint64_t{1} << end_bit_) - 1) & ~((std::uint64_t{1} << begin_bit_) - 1);
  std::vector<std::uint32_t> order(count_);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return (keys[a] & mask) < (keys[b] & mask); });
  for (std::uint32_t i = 0; i < count_; ++i) {
    sorted_keys[i] = keys[order[i]];
    sorted_values[i] = values[order[i]];
  }
}

void sort_words(simt::Stream&, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count) {
  std::copy(words, words + count, sorted);
  std::sort(sorted, sorted + count);
}

}  // namespace allocbench
