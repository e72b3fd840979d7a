// The global timer is a clock that all multiprocessors of a GPU share.
//
// thread.clock() counts the cycles of one multiprocessor. The counts of two multiprocessors may differ by any number.
#pragma once

#include <cstdint>

namespace simt {

// Returns the time in nanoseconds. The time advances in steps whose length depends on the GPU.
__device__ inline std::uint64_t global_nanoseconds() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

}  // namespace simt
