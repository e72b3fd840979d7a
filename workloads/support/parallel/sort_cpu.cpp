#include <algorithm>
#include <numeric>
#include <vector>

#include "workloads/support/parallel/sort.hpp"

namespace allocbench {

PairSort::PairSort(std::uint32_t) {}
RunLengths::RunLengths(std::uint32_t) {}
WordSort::WordSort(std::uint32_t) {}

// Device memory is host memory here, and streams order nothing.
void PairSort::run(simt::Stream&, std::uint32_t count, std::uint32_t begin_bit, std::uint32_t end_bit,
                   const std::uint32_t* keys, const std::uint32_t* values, std::uint32_t* sorted_keys,
                   std::uint32_t* sorted_values) {
  const std::uint64_t mask = ((std::uint64_t{1} << end_bit) - 1) & ~((std::uint64_t{1} << begin_bit) - 1);
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return (keys[a] & mask) < (keys[b] & mask); });
  for (std::uint32_t i = 0; i < count; ++i) {
    sorted_keys[i] = keys[order[i]];
    sorted_values[i] = values[order[i]];
  }
}

void RunLengths::run(simt::Stream&, std::uint32_t count, const std::uint32_t* keys, std::uint32_t* once,
                     std::uint32_t* lengths, std::uint32_t* runs) {
  *runs = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) {
      once[*runs] = keys[i];
      lengths[*runs] = 0;
      ++*runs;
    }
    ++lengths[*runs - 1];
  }
}

void WordSort::run(simt::Stream&, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count) {
  std::copy(words, words + count, sorted);
  std::sort(sorted, sorted + count);
}

void sort_words(simt::Stream& stream, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count) {
  WordSort(count).run(stream, words, sorted, count);
}

}  // namespace allocbench
