#include <cub/device/device_scan.cuh>

#include "workloads/support/parallel/scan.hpp"

namespace allocbench {

ExclusiveScan::ExclusiveScan(std::uint32_t count) : count_(count) {
  std::size_t bytes = 0;
  const std::uint64_t* counts = nullptr;
  std::uint64_t* sums = nullptr;
  simt::check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, sums, count_), "cub::DeviceScan (size)");
  scratch_ = simt::Buffer<std::byte>(bytes);
}

void ExclusiveScan::run(simt::Stream& stream, const std::uint64_t* counts, std::uint64_t* sums) {
  std::size_t bytes = scratch_.size();
  simt::check_cuda(cub::DeviceScan::ExclusiveSum(scratch_.data(), bytes, counts, sums, count_, stream.native()),
                   "cub::DeviceScan::ExclusiveSum");
}

}  // namespace allocbench
