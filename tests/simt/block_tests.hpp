// Conformance of blocks and grids: these tests cover identities, shared memory, barriers, persistent blocks and the
// device heap.
#pragma once

#include "tests/simt/conformance.hpp"

namespace simt::conformance {

struct Identities {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output) const {
    std::uint32_t* mine = output + thread.rank_in_grid() * 8;
    const std::uint64_t before = thread.clock();
    mine[0] = thread.lane();
    mine[1] = thread.warp_in_block();
    mine[2] = thread.rank_in_block();
    mine[3] = thread.block();
    mine[4] = thread.block_size() * 1000 + thread.block_count();
    mine[5] = thread.grid_size();
    mine[6] = thread.sm() < thread.sm_count();
    mine[7] = thread.clock() >= before;
  }
};

TEST_P(Conformance, ThreadsKnowWhereTheyAre) {
  const auto seen = run({7, 50}, 8, Identities{});
  for (std::uint32_t thread = 0; thread < 350; ++thread) {
    const std::uint32_t rank = thread % 50;
    const std::vector<std::uint32_t> mine(&seen[thread * 8], &seen[thread * 8] + 8);
    EXPECT_EQ(mine, (std::vector<std::uint32_t>{rank % 32, rank / 32, rank, thread / 50, 50007, 350, 1, 1}));
  }
}

struct OwnCopies {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, std::uint32_t argument) const {
    argument += thread.rank_in_grid();
    output[thread.rank_in_grid()] = argument;
  }
};

TEST_P(Conformance, EveryThreadHasItsOwnArguments) {
  const auto seen = run({2, 33}, 1, OwnCopies{}, 5u);
  for (std::uint32_t thread = 0; thread < 66; ++thread) EXPECT_EQ(seen[thread], thread + 5);
}

// In OddLanesExit, odd lanes end inside a function that the kernel calls. The others meet without them.
struct OddLanesExit {
  template <class Thread>
  static SIMT_FN std::uint32_t even_only(Thread& thread) {
    if (thread.lane() % 2 != 0) thread.exit();
    return thread.lane();
  }
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output) const {
    const std::uint32_t lane = even_only(thread);
    thread.block_barrier();
    output[thread.rank_in_grid()] = thread.warp().ballot(lane % 4 == 0);
  }
};

TEST_P(Conformance, ThreadsThatExitAreWaitedForNowhere) {
  const auto seen = run({3, 64}, 1, OddLanesExit{});
  for (std::uint32_t thread = 0; thread < 192; ++thread) {
    EXPECT_EQ(seen[thread] == 0x11111111u, thread % 2 == 0) << thread;
  }
}

struct Histogram {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output) const {
    auto* bins = thread.template shared<std::uint32_t>(8);
    if (thread.rank_in_block() < 8) bins[thread.rank_in_block()] = 0;
    thread.block_barrier();
    thread.atomic_shared(bins[thread.rank_in_block() % 8]).fetch_add(thread.block() + 1, relaxed);
    thread.block_barrier();
    output[thread.rank_in_grid()] = bins[7 - thread.rank_in_block() % 8];
  }
};

TEST_P(Conformance, SharedMemoryBelongsToTheBlock) {
  const auto seen = run({6, 80, 8 * sizeof(std::uint32_t)}, 1, Histogram{});
  for (std::uint32_t thread = 0; thread < 480; ++thread) EXPECT_EQ(seen[thread], 10 * (thread / 80 + 1));
}

struct BarrierAfterExits {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, std::uint32_t survivors) const {
    auto* values = thread.template shared<std::uint32_t>(96);
    values[thread.rank_in_block()] = thread.rank_in_block();
    thread.block_barrier();
    if (thread.rank_in_block() >= survivors) return;
    values[thread.rank_in_block()] += 1000;
    thread.block_barrier();
    output[thread.rank_in_grid()] = values[survivors - 1 - thread.rank_in_block()];
  }
};

TEST_P(Conformance, BlockBarrierGoesOnWithoutExitedLanes) {
  for (const std::uint32_t survivors : {1u, 31u, 45u, 95u}) {
    const auto seen = run({2, 96, 96 * sizeof(std::uint32_t)}, 1, BarrierAfterExits{}, survivors);
    for (std::uint32_t thread = 0; thread < 192; ++thread) {
      const std::uint32_t rank = thread % 96;
      EXPECT_EQ(seen[thread], rank < survivors ? 1000 + survivors - 1 - rank : 0);
    }
  }
}

// In GridBarrier, all resident blocks meet at a grid-wide barrier several times. The barrier needs the progress of
// every started block.
struct GridBarrier {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* arrivals, std::uint32_t* late) const {
    for (std::uint32_t round = 1; round <= 3; ++round) {
      thread.block_barrier();
      if (thread.rank_in_block() == 0) {
        thread.atomic(*arrivals).fetch_add(1u, acq_rel);
        while (thread.atomic(*arrivals).load(acquire) < round * thread.block_count()) thread.spin_hint();
        if (thread.atomic(*arrivals).load(relaxed) < round * thread.block_count()) {
          thread.atomic(*late).fetch_add(1u, relaxed);
        }
      }
      thread.block_barrier();
    }
  }
};

TEST_P(Conformance, PersistentBlocksMeetAcrossTheGrid) {
  const std::uint32_t blocks = max_resident_blocks<GridBarrier, std::uint32_t*, std::uint32_t*>(stream(), 64, 0);
  ASSERT_GT(blocks, 0u);
  auto arrivals = zeros<std::uint32_t>(1);
  auto late = zeros<std::uint32_t>(1);
  launch(stream(), {blocks, 64}, GridBarrier{}, arrivals.data(), late.data());
  EXPECT_EQ(arrivals.to_host(stream())[0], 3 * blocks);
  EXPECT_EQ(late.to_host(stream())[0], 0u);
}

struct HeapAllocate {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t* blocks) const {
    const std::uint32_t rank = thread.rank_in_grid();
    auto* block = static_cast<std::uint32_t*>(thread.device_heap().malloc(4 + 4 * (rank % 50)));
    blocks[rank] = reinterpret_cast<std::uint64_t>(block);
    if (block == nullptr) return;
    for (std::uint32_t i = 0; i <= rank % 50; ++i) block[i] = rank * 100 + i;
  }
};

struct HeapFree {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* wrong, std::uint64_t* blocks) const {
    const std::uint32_t rank = thread.rank_in_grid();
    auto* block = reinterpret_cast<std::uint32_t*>(blocks[rank]);
    for (std::uint32_t i = 0; i <= rank % 50; ++i) wrong[rank] += block[i] != rank * 100 + i;
    thread.device_heap().free(block);
  }
};

TEST_P(Conformance, DeviceHeapBlocksLiveAcrossKernels) {
  for (int round = 0; round < 3; ++round) {
    auto blocks = zeros<std::uint64_t>(600);
    launch(stream(), {6, 100}, HeapAllocate{}, blocks.data());
    for (const std::uint64_t block : blocks.to_host(stream())) {
      ASSERT_NE(block, 0u);
      EXPECT_EQ(block % 16, 0u);
      EXPECT_TRUE(device().in_device_heap(reinterpret_cast<const void*>(block)));
    }
    const auto wrong = run({6, 100}, 1, HeapFree{}, blocks.data());
    for (const std::uint32_t count : wrong) EXPECT_EQ(count, 0u);
  }
}

struct HeapExhaust {
  static constexpr std::uint32_t capacity = 4096;

  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* counts) const {
    void* last = nullptr;
    std::uint32_t count = 0;
    while (count < capacity) {
      void* block = thread.device_heap().malloc(1u << 20);
      if (block == nullptr) break;
      *static_cast<void**>(block) = last;
      last = block;
      ++count;
    }
    counts[0] = count;
    while (last != nullptr) {
      void* next = *static_cast<void**>(last);
      thread.device_heap().free(last);
      last = next;
    }
    void* again = thread.device_heap().malloc(1u << 20);
    counts[1] = again != nullptr;
    thread.device_heap().free(again);
  }
};

TEST_P(Conformance, FullDeviceHeapGivesNullAndRecovers) {
  const auto counts = run({1, 1}, 2, HeapExhaust{});
  EXPECT_GE(counts[0], 1u);
  EXPECT_LT(counts[0], HeapExhaust::capacity);
  EXPECT_EQ(counts[1], 1u);
}

}  // namespace simt::conformance
