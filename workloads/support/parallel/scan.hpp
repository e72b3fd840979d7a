// This file computes the exclusive prefix sum of 64-bit counts in device memory. It uses CUB on CUDA and the C++
// standard library on the CPU back end. Each back end has its own unit for the scan, because CUB needs the CUDA
// compiler.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

class ExclusiveScan {
 public:
  explicit ExclusiveScan(std::uint32_t count);

  // Enqueues the scan: sums[i] = counts[0] + ... + counts[i - 1].
  void run(simt::Stream& stream, const std::uint64_t* counts, std::uint64_t* sums);

 private:
  std::uint32_t count_;
  simt::Buffer<std::byte> scratch_;  // scratch memory of the library
};

}  // namespace allocbench
