#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>

#include "workloads/support/parallel/sort.hpp"

namespace allocbench {

PairSort::PairSort(std::uint32_t most) {
  std::size_t bytes = 0;
  const std::uint32_t* in = nullptr;
  std::uint32_t* out = nullptr;
  simt::check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, in, out, in, out, most),
                   "cub::DeviceRadixSort (size)");
  scratch_ = simt::Buffer<std::byte>(bytes);
}

void PairSort::run(simt::Stream& stream, std::uint32_t count, std::uint32_t begin_bit, std::uint32_t end_bit,
                   const std::uint32_t* keys, const std::uint32_t* values, std::uint32_t* sorted_keys,
                   std::uint32_t* sorted_values) {
  std::size_t bytes = scratch_.size();
  simt::check_cuda(
      cub::DeviceRadixSort::SortPairs(scratch_.data(), bytes, keys, sorted_keys, values, sorted_values, count,
                                      static_cast<int>(begin_bit), static_cast<int>(end_bit), stream.native()),
      "cub::DeviceRadixSort::SortPairs");
}

RunLengths::RunLengths(std::uint32_t most) {
  std::size_t bytes = 0;
  const std::uint32_t* in = nullptr;
  std::uint32_t* out = nullptr;
  simt::check_cuda(cub::DeviceRunLengthEncode::Encode(nullptr, bytes, in, out, out, out, most),
                   "cub::DeviceRunLengthEncode (size)");
  scratch_ = simt::Buffer<std::byte>(bytes);
}

void RunLengths::run(simt::Stream& stream, std::uint32_t count, const std::uint32_t* keys, std::uint32_t* once,
                     std::uint32_t* lengths, std::uint32_t* runs) {
  std::size_t bytes = scratch_.size();
  simt::check_cuda(
      cub::DeviceRunLengthEncode::Encode(scratch_.data(), bytes, keys, once, lengths, runs, count, stream.native()),
      "cub::DeviceRunLengthEncode::Encode");
}

WordSort::WordSort(std::uint32_t most) {
  std::size_t bytes = 0;
  const std::uint64_t* in = nullptr;
  std::uint64_t* out = nullptr;
  simt::check_cuda(cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, most), "cub::DeviceRadixSort (size)");
  scratch_ = simt::Buffer<std::byte>(bytes);
}

void WordSort::run(simt::Stream& stream, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count) {
  std::size_t bytes = scratch_.size();
  simt::check_cuda(cub::DeviceRadixSort::SortKeys(scratch_.data(), bytes, words, sorted, count, 0, 64, stream.native()),
                   "cub::DeviceRadixSort::SortKeys");
}

void sort_words(simt::Stream& stream, const std::uint64_t* words, std::uint64_t* sorted, std::uint32_t count) {
  WordSort sort(count);
  sort.run(stream, words, sorted, count);
  stream.synchronize();  // this function releases the scratch memory when it returns
}

}  // namespace allocbench
