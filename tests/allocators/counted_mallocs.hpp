// count_mallocs() runs a kernel in which each thread makes one malloc, and counts the operations of all threads on
// shared words.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "simt/counting.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench::testing {

struct CountedMallocAll {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const std::uint64_t* sizes, void** blocks,
                          std::uint64_t* operations, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    simt::CountingThread<Thread> counting(thread);
    blocks[i] = allocator.malloc(counting, sizes[i]);
    operations[i] = counting.counts().operations();
  }
};

struct CountedMallocs {
  std::vector<void*> blocks;
  std::uint64_t operations = 0;
  std::uint64_t most = 0;  // largest number of operations of one malloc
};

template <class A>
CountedMallocs count_mallocs(Rig<A>& rig, const std::vector<std::uint64_t>& sizes, std::uint32_t threads_per_block) {
  const auto count = static_cast<std::uint32_t>(sizes.size());
  simt::Buffer<std::uint64_t> requests(count);
  requests.from_host(rig.stream(), sizes);
  simt::Buffer<void*> blocks(count);
  simt::Buffer<std::uint64_t> operations(count);
  simt::launch(rig.stream(), {(count + threads_per_block - 1) / threads_per_block, threads_per_block},
               CountedMallocAll{}, rig.allocator, static_cast<const std::uint64_t*>(requests.data()), blocks.data(),
               operations.data(), count);
  const std::vector<std::uint64_t> counts = operations.to_host(rig.stream());
  return {blocks.to_host(rig.stream()), std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}),
          *std::max_element(counts.begin(), counts.end())};
}

template <class A>
CountedMallocs count_mallocs(Rig<A>& rig, std::uint64_t bytes, std::uint32_t count, std::uint32_t threads_per_block) {
  return count_mallocs(rig, std::vector<std::uint64_t>(count, bytes), threads_per_block);
}

struct StepsOfMallocAll {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t bytes, void** blocks,
                          simt::OperationCounts* counts, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    simt::CountingThread<Thread> counting(thread);
    blocks[i] = allocator.malloc(counting, bytes);
    counts[i] = counting.counts();
  }
};

struct CountedSteps {
  std::vector<void*> blocks;
  std::vector<simt::OperationCounts> counts;

  // Returns how often all mallocs together make this step.
  std::uint64_t of(simt::Step step) const {
    std::uint64_t sum = 0;
    for (const simt::OperationCounts& each : counts) sum += each.steps[static_cast<std::uint32_t>(step)];
    return sum;
  }
};

template <class A>
CountedSteps count_steps_of_mallocs(Rig<A>& rig, std::uint64_t bytes, std::uint32_t count,
                                    std::uint32_t threads_per_block) {
  simt::Buffer<void*> blocks(count);
  simt::Buffer<simt::OperationCounts> counts(count);
  simt::launch(rig.stream(), {(count + threads_per_block - 1) / threads_per_block, threads_per_block},
               StepsOfMallocAll{}, rig.allocator, bytes, blocks.data(), counts.data(), count);
  return {blocks.to_host(rig.stream()), counts.to_host(rig.stream())};
}

inline std::size_t served(const std::vector<void*>& blocks) {
  return blocks.size() - static_cast<std::size_t>(std::count(blocks.begin(), blocks.end(), nullptr));
}

}  // namespace allocbench::testing
