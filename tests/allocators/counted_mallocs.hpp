// One malloc of each thread, with the operations on shared words that all of them make together.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "simt/counting.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench::testing {

struct CountedMallocAll {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t bytes, void** blocks, std::uint64_t* operations,
                          std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    simt::CountingThread<Thread> counting(thread);
    blocks[i] = allocator.malloc(counting, bytes);
    operations[i] = counting.counts().operations();
  }
};

struct CountedMallocs {
  std::vector<void*> blocks;
  std::uint64_t operations = 0;
};

template <class A>
CountedMallocs count_mallocs(Rig<A>& rig, std::uint64_t bytes, std::uint32_t count, std::uint32_t threads_per_block) {
  simt::Buffer<void*> blocks(count);
  simt::Buffer<std::uint64_t> operations(count);
  simt::launch(rig.stream(), {(count + threads_per_block - 1) / threads_per_block, threads_per_block},
               CountedMallocAll{}, rig.allocator, bytes, blocks.data(), operations.data(), count);
  const std::vector<std::uint64_t> counts = operations.to_host(rig.stream());
  return {blocks.to_host(rig.stream()), std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})};
}

inline std::size_t served(const std::vector<void*>& blocks) {
  return blocks.size() - static_cast<std::size_t>(std::count(blocks.begin(), blocks.end(), nullptr));
}

}  // namespace allocbench::testing
