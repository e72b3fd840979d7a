// Both forms of XMalloc, published and reworked, must pass these test cases.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/allocators/churn.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench::testing {

struct InitialiseFifo {
  template <class Thread, class Fifo>
  SIMT_FN void operator()(Thread& thread, Fifo fifo) const {
    fifo.initialise(thread, thread.rank_in_grid(), thread.grid_size());
  }
};

// In PushAndPop, every lane pushes `each` numbers of its own. After each push but the first, the fifth, the ninth and
// so on, the lane tries to pop a number. `seen` counts the popped numbers. The lanes use all functions of the FIFO.
template <class Value>
struct PushAndPop {
  template <class Thread, class Fifo>
  SIMT_FN void operator()(Thread& thread, Fifo fifo, std::uint32_t each, std::uint32_t* seen,
                          std::uint32_t* refused) const {
    for (std::uint32_t i = 0; i < each; ++i) {
      const Value number = thread.rank_in_grid() * each + i;
      if (!push(thread, fifo, number, i % 3)) thread.atomic(*refused).fetch_add(1u, simt::relaxed);
      Value value;
      if (i % 4 != 0 && pop(thread, fifo, value, i % 4)) thread.atomic(seen[value]).fetch_add(1u, simt::relaxed);
    }
  }

 private:
  template <class Thread, class Fifo>
  static SIMT_FN bool push(Thread& thread, const Fifo& fifo, Value number, std::uint32_t way) {
    const auto numbers = [&](std::uint32_t) { return number; };
    if constexpr (requires { fifo.push_some(thread, 1, numbers); }) {
      if (way == 1) return fifo.push_some(thread, 1, numbers) == 1;
      if (way == 2) return fifo.push_together(thread, thread.converged(), number);
    }
    return fifo.push(thread, number);
  }
  template <class Thread, class Fifo>
  static SIMT_FN bool pop(Thread& thread, const Fifo& fifo, Value& value, std::uint32_t way) {
    if constexpr (requires { fifo.pop_together(thread, thread.converged(), value); }) {
      if (way == 3) return fifo.pop_together(thread, thread.converged(), value);
    }
    return fifo.pop(thread, value);
  }
};

template <class Value>
struct PopAll {
  template <class Thread, class Fifo>
  SIMT_FN void operator()(Thread& thread, Fifo fifo, std::uint32_t* seen) const {
    Value value;
    while (fifo.pop(thread, value)) thread.atomic(seen[value]).fetch_add(1u, simt::relaxed);
  }
};

// Tests a ring of 8 slots of type `Slot` for numbers of type `Value`. `Ends` is the state that the FIFO has in addition
// to the ring.
template <class Fifo, class Ends, class Slot, class Value>
void expect_fifo_passes_every_admitted_value_once() {
  constexpr std::uint32_t lanes = 48, each = 9;
  std::uint32_t refusals = 0;
  for (std::uint64_t seed = 1; seed <= seeds(200); ++seed) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.strategy = simt::StrategyKind::swarm;
    options.seed = seed;
    simt::Device device(options);
    simt::Stream stream(device);
    simt::Buffer<Ends> ends(1);
    simt::Buffer<Slot> slots(8);
    simt::Buffer<std::uint32_t> seen(lanes * each + 1);
    seen.fill_bytes(stream, 0);
    const Fifo fifo{ends.data(), slots.data(), 8};
    simt::launch(stream, {1, 4}, InitialiseFifo{}, fifo);
    simt::launch(stream, {2, lanes / 2}, PushAndPop<Value>{}, fifo, each, seen.data(), seen.data() + lanes * each);
    simt::launch(stream, {1, 1}, PopAll<Value>{}, fifo, seen.data());
    const std::vector<std::uint32_t> counts = seen.to_host(stream);
    const std::uint32_t refused = counts.back();
    const std::uint32_t passed = std::accumulate(counts.begin(), counts.end() - 1, 0u);
    EXPECT_EQ(*std::max_element(counts.begin(), counts.end() - 1), 1u) << "seed " << seed;
    ASSERT_EQ(passed + refused, lanes * each) << "seed " << seed;
    refusals += refused;
  }
  EXPECT_GT(refusals, 0u) << "the ring never was full: the test tests less than it says";
}

// Splits and merges Memoryblocks of a heap of 64 KiB without Superblocks.
template <class A>
void expect_memoryblocks_split_and_merge(Rig<A>& rig) {
  // The requests are too large for Basicblocks. Each block has 16 bytes of header in front.
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(rig.malloc({10'000})[0]);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(rig.offset(blocks[i]), static_cast<std::ptrdiff_t>(16 + i * 10'016));
  EXPECT_EQ(rig.malloc({10'000})[0], nullptr);
  rig.free({blocks[1]});
  rig.free({blocks[3]});
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  EXPECT_EQ(rig.malloc({20'000})[0], nullptr);
  rig.free({blocks[2]});  // joins both neighbours
  EXPECT_EQ(rig.offset(rig.malloc({30'000})[0]), 16 + 10'016);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// Lets lanes allocate, pass blocks on and free. `seed` determines the shape of the launch, the slots and the sizes.
template <class A>
void churn_on_tiny_heap(Rig<A>& rig, std::uint64_t seed) {
  ChurnSetting setting;
  setting.shape = seed % 5 == 0 ? simt::LaunchShape{1, 2} : simt::LaunchShape{2, 24};
  setting.rounds = seed % 5 == 0 ? 24 : 4;
  setting.slots = static_cast<std::uint32_t>(1 + seed % 40);
  setting.sizes = seed % 3 == 0 ? std::vector<std::uint64_t>{16} : std::vector<std::uint64_t>{16, 64, 200, 500, 2400};
  const ChurnResult result = churn(rig.allocator, rig.stream(), seed, setting);
  ASSERT_EQ(result.broken, 0u) << "seed " << seed;
  ASSERT_GT(result.served, 0u) << "seed " << seed;
  ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << "seed " << seed;
}

}  // namespace allocbench::testing
