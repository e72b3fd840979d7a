// Threads add to one word, again and again; each measures how long it waits for an addition. On CUDA: device threads
// and one word in device memory; on the CPU back end threads of the operating system and one word of host memory, since
// the lanes of the executor take turns and never meet. It has a unit of its own, because it needs no allocator.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"
#include "workloads/support/contract/phase_timer.hpp"

namespace allocbench {

class WordContention {
 public:
  WordContention(std::uint32_t threads, std::uint32_t threads_per_block, std::uint32_t additions);

  // Times the phase "atomics". Gives the mean cycles of an addition, from the multiprocessor's clock or the CPU's time
  // stamp counter (0 if there is none).
  double run(simt::Stream& stream, PhaseTimer& timer);

  // What the word holds after a run if no addition was lost.
  std::uint32_t expected() const { return threads_ * additions_; }
  std::uint32_t found(simt::Stream& stream) const;

 private:
  std::uint32_t threads_;
  std::uint32_t threads_per_block_;
  std::uint32_t additions_;
  simt::Buffer<std::uint32_t> word_;
  simt::Buffer<std::uint64_t> cycles_;  // of each thread
};

}  // namespace allocbench
