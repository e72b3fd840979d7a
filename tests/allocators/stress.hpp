// stress() runs a seeded stress kernel with an overlap oracle, for allocators on tiny pools.
//
// It imitates a program whose threads allocate, hold a few blocks, and free them in any order. Every 16-byte granule of
// the pool has an owner word. A thread that takes a block exchanges the owner words of the block and must find them
// empty. A thread that frees a block must find its own number there. The same seed gives the same run. So a block with
// two owners is found in any interleaving.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/allocators/harness.hpp"

namespace allocbench::testing {

struct StressCounts {
  std::uint32_t overlaps;
  std::uint32_t lost_owners;
  std::uint32_t outside;
  std::uint32_t misaligned;
  std::uint32_t nulls;
  std::uint32_t blocks;
};

struct StressPlan {
  std::uint32_t threads = 32;
  std::uint32_t threads_per_block = 32;
  std::uint32_t steps = 8;  // steps of each thread; a step is a malloc or a free
  std::vector<std::uint64_t> sizes = {16};
};

struct StressKernel {
  static constexpr std::uint32_t held_at_most = 3;

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Pool pool, std::uint32_t* owners, StressCounts* counts,
                          const std::uint64_t* sizes, std::uint32_t size_count, std::uint32_t steps, std::uint64_t seed,
                          std::uint32_t threads) const {
    if (thread.rank_in_grid() >= threads) return;
    const std::uint32_t me = thread.rank_in_grid() + 1;
    std::uint64_t random = seed * 0x9e3779b97f4a7c15u + me * 0xbf58476d1ce4e5b9u;
    void* held[held_at_most];
    std::uint64_t bytes[held_at_most];
    std::uint32_t count = 0;
    const auto exchange_owner = [&](std::uint32_t i, std::uint32_t from, std::uint32_t to, std::uint32_t& errors) {
      const std::uint64_t begin = static_cast<std::uint64_t>(static_cast<std::byte*>(held[i]) - pool.base) / 16;
      for (std::uint64_t granule = begin; granule < begin + (bytes[i] + 15) / 16; ++granule) {
        if (thread.atomic(owners[granule]).exchange(to, simt::relaxed) != from) {
          thread.atomic(errors).fetch_add(1u, simt::relaxed);
        }
      }
    };
    const auto release = [&](std::uint32_t i) {
      exchange_owner(i, me, 0, counts->lost_owners);
      allocator.free(thread, held[i]);
      --count;
      held[i] = held[count];
      bytes[i] = bytes[count];
    };
    for (std::uint32_t step = 0; step < steps; ++step) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const auto draw = static_cast<std::uint32_t>(random >> 33);
      if (count != 0 && (count == held_at_most || draw % 3 == 0)) {
        release(draw / 3 % count);
        continue;
      }
      const std::uint64_t size = sizes[draw / 8 % size_count];
      auto* block = static_cast<std::byte*>(allocator.malloc(thread, size));
      if (block == nullptr) {
        thread.atomic(counts->nulls).fetch_add(1u, simt::relaxed);
        continue;
      }
      thread.atomic(counts->blocks).fetch_add(1u, simt::relaxed);
      if (block < pool.base || block + size > pool.base + pool.bytes) {
        thread.atomic(counts->outside).fetch_add(1u, simt::relaxed);
        continue;
      }
      if (reinterpret_cast<std::uintptr_t>(block) % 16 != 0) {
        thread.atomic(counts->misaligned).fetch_add(1u, simt::relaxed);
      }
      held[count] = block;
      bytes[count] = size;
      exchange_owner(count, 0, me, counts->overlaps);
      ++count;
    }
    while (count != 0) release(0);
  }
};

// Runs the plan on the rig. Afterwards every block is free again. Returns the first mistake in words, or an empty text.
template <class A>
std::string stress(Rig<A>& rig, const StressPlan& plan, std::uint64_t seed, StressCounts* result = nullptr) {
  const Pool pool = rig.arena().pool();
  simt::Buffer<std::uint32_t> owners(pool.bytes / 16 + 1);
  owners.fill_bytes(rig.stream(), 0);
  simt::Buffer<StressCounts> counts(1);
  counts.fill_bytes(rig.stream(), 0);
  simt::Buffer<std::uint64_t> sizes(plan.sizes.size());
  sizes.from_host(rig.stream(), plan.sizes);
  const std::uint32_t blocks = (plan.threads + plan.threads_per_block - 1) / plan.threads_per_block;
  simt::launch(rig.stream(), {blocks, plan.threads_per_block}, StressKernel{}, rig.allocator, pool, owners.data(),
               counts.data(), static_cast<const std::uint64_t*>(sizes.data()),
               static_cast<std::uint32_t>(plan.sizes.size()), plan.steps, seed, plan.threads);
  const StressCounts found = counts.to_host(rig.stream())[0];
  if (result != nullptr) *result = found;
  if (found.overlaps != 0) return std::to_string(found.overlaps) + " granules had two owners";
  if (found.lost_owners != 0) return std::to_string(found.lost_owners) + " granules lost their owner";
  if (found.outside != 0) return std::to_string(found.outside) + " blocks left the pool";
  if (found.misaligned != 0) return std::to_string(found.misaligned) + " blocks were misaligned";
  if (found.blocks == 0) return "no request was served";
  return rig.allocator.broken_invariant(rig.stream());
}

}  // namespace allocbench::testing
