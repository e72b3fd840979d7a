// Exclusive prefix sum of 64-bit counts in device memory, by a library: CUB on CUDA, the C++ standard library on the
// CPU back end. It has a unit of its own, because otherwise every allocator's unit would compile CUB.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

class ExclusiveScan {
 public:
  explicit ExclusiveScan(std::uint32_t count);

  // sums[i] = counts[0] + ... + counts[i-1], enqueued on the stream.
  void run(simt::Stream& stream, const std::uint64_t* counts, std::uint64_t* sums);

 private:
  std::uint32_t count_;
  simt::Buffer<std::byte> scratch_;  // what the library needs besides
};

}  // namespace allocbench
