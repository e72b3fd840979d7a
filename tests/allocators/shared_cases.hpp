// These test cases are for several designs, or for both forms of one design. Each case takes a Rig (harness.hpp), which
// has the allocator and its heap.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/allocators/harness.hpp"

namespace allocbench::testing {

inline std::size_t count_served(const std::vector<void*>& blocks) {
  return blocks.size() - static_cast<std::size_t>(std::count(blocks.begin(), blocks.end(), nullptr));
}

// Lets `lanes` lanes request together until one of them gets null. Returns all blocks.
template <class A>
std::vector<void*> malloc_until_null(Rig<A>& rig, std::uint64_t bytes, std::size_t lanes = 1) {
  std::vector<void*> all;
  for (;;) {
    const std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(lanes, bytes));
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(all),
                 [](const void* block) { return block != nullptr; });
    if (count_served(blocks) != lanes) return all;
  }
}

// Takes all blocks of an empty heap. Then frees them in another order and takes them again, three times.
template <class A>
std::size_t expect_all_blocks_come_again(Rig<A>& rig, std::uint64_t bytes) {
  std::vector<void*> blocks = malloc_until_null(rig, bytes, 32);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  for (int round = 0; round < 3; ++round) {
    std::shuffle(blocks.begin(), blocks.end(), std::mt19937(7));
    rig.free(blocks);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    EXPECT_EQ(malloc_until_null(rig, bytes, 32).size(), blocks.size()) << "nothing is lost";
  }
  return blocks.size();
}

// Fills the heap and frees five blocks. Expects that a warp then gets five blocks.
template <class A>
void expect_last_blocks_served(Rig<A>& rig, std::uint64_t bytes) {
  const std::vector<void*> blocks = malloc_until_null(rig, bytes, 32);
  rig.free({blocks.begin(), blocks.begin() + 5});
  EXPECT_EQ(count_served(rig.malloc(std::vector<std::uint64_t>(32, bytes))), 5u);
}

// Fills the heap with blocks of 16 bytes and resets it. Expects that it serves as many 64-byte blocks as a new heap.
template <class A>
void expect_reset_to_first_state(Rig<A>& rig) {
  const std::size_t fresh = malloc_until_null(rig, 64, 32).size();
  rig.allocator.reset(rig.stream());
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  static_cast<void>(malloc_until_null(rig, 16, 32));
  rig.allocator.reset(rig.stream());
  EXPECT_EQ(malloc_until_null(rig, 64, 32).size(), fresh);
}

// Renews a small live set 300 times, so that the queue positions wrap around their rings and segments.
template <class A>
void expect_queues_go_round(Rig<A>& rig) {
  std::mt19937 random(3);
  std::vector<void*> live;
  for (int round = 0; round < 300; ++round) {
    for (void* block : rig.malloc(std::vector<std::uint64_t>(1 + random() % 40, 16))) {
      ASSERT_NE(block, nullptr) << round;
      live.push_back(block);
    }
    std::shuffle(live.begin(), live.end(), random);
    const std::size_t keep = std::min<std::size_t>(live.size(), random() % 30);
    if (keep == live.size()) continue;
    rig.free({live.begin() + static_cast<std::ptrdiff_t>(keep), live.end()});
    live.resize(keep);
    ASSERT_EQ(std::set<void*>(live.begin(), live.end()).size(), live.size());
  }
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

// Expects that requests of 1 to 8,192 bytes, one per thread, are all served, twice.
template <class A>
void expect_many_threads_served(Rig<A>& rig, std::size_t threads) {
  for (int round = 0; round < 2; ++round) {
    std::mt19937 random(static_cast<std::uint32_t>(round));
    std::vector<std::uint64_t> sizes(threads);
    for (auto& size : sizes) size = 1 + random() % (16u << random() % 10);
    std::vector<void*> blocks = rig.malloc(sizes, 128);
    EXPECT_EQ(count_served(blocks), threads);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
    std::shuffle(blocks.begin(), blocks.end(), random);
    rig.free(blocks, 96);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

// Expects that a warp whose lanes request 0 to 9,000 bytes is served. The lanes take different ways through the
// allocator.
template <class A>
void expect_mixed_warp_served(Rig<A>& rig) {
  std::vector<std::uint64_t> sizes(32);
  constexpr std::uint64_t cycle[] = {0, 8, 255, 256, 9000};
  for (std::size_t i = 0; i < 32; ++i) sizes[i] = cycle[i % 5];
  const std::vector<void*> blocks = rig.malloc(sizes);
  std::vector<std::pair<const std::byte*, std::uint64_t>> live;
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_NE(blocks[i], nullptr) << "lane " << i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks[i]) % 16, 0u);
    live.emplace_back(static_cast<const std::byte*>(blocks[i]), sizes[i]);
  }
  std::sort(live.begin(), live.end());
  for (std::size_t i = 1; i < 32; ++i) EXPECT_LE(live[i - 1].first + live[i - 1].second, live[i].first);
  rig.free(blocks);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace allocbench::testing
