// In WordContention, threads repeatedly add to one word, and each measures the time of its additions. On CUDA they are
// device threads, and the word is in device memory. On the CPU back end they are threads of the operating system, and
// the word is in host memory, because the lanes of the executor take turns and never contend. The code has its own
// unit, because it needs no allocator.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"
#include "workloads/support/contract/phase_timer.hpp"

namespace allocbench {

class WordContention {
 public:
  WordContention(std::uint32_t threads, std::uint32_t threads_per_block, std::uint32_t additions);

  // Times the phase "atomics". Returns the mean cycles of an addition by the multiprocessor's clock or the CPU's time
  // stamp counter, or 0 if there is no such counter.
  double run(simt::Stream& stream, PhaseTimer& timer);

  // Returns the value of the word after a run without lost additions.
  std::uint32_t expected() const { return threads_ * additions_; }
  std::uint32_t found(simt::Stream& stream) const;

 private:
  std::uint32_t threads_;
  std::uint32_t threads_per_block_;
  std::uint32_t additions_;
  simt::Buffer<std::uint32_t> word_;
  simt::Buffer<std::uint64_t> cycles_;  // cycles of each thread
};

}  // namespace allocbench
