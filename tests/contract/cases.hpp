// This file declares the cases of the contract suite. They check what allocators/support/contract/allocator.hpp
// promises, for any registered allocator.
#pragma once

#include <string>
#include <vector>

#include "tests/contract/heap.hpp"

namespace allocbench::contract {

struct Case {
  const char* name;
  // Returns why the case makes no sense for these traits, or an empty text if it makes sense.
  std::string (*inapplicable)(const Traits&);
  void (*run)(const AllocatorType&, Report&);
};

std::vector<Case> size_cases();
std::vector<Case> warp_cases();
std::vector<Case> pool_cases();
std::vector<Case> large_pool_cases();

inline std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& some : {size_cases(), warp_cases(), pool_cases(), large_pool_cases()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// These functions are values of Case::inapplicable.
inline std::string always(const Traits&) { return {}; }
inline std::string if_fresh_heaps(const Traits& traits) {
  if (traits.fresh == Fresh::by_reset || devices_are_fresh) return {};
  return "only a new process has a fresh heap";
}
inline std::string if_unfreed_blocks_stay(const Traits& traits) {
  return traits.recycles_unfreed ? "blocks are handed out again before they are freed, so the pool is never full"
                                 : if_fresh_heaps(traits);
}
inline std::string if_frees(const Traits& traits) {
  return traits.frees == Frees::never ? "the design never frees" : if_unfreed_blocks_stay(traits);
}

// Doubles the size of the pool from `least` bytes on until the design supports it. Returns this size. Throws
// Unsupported if the design supports no such pool up to 64 MiB.
std::size_t supported_pool(const AllocatorType& type, std::size_t least);
inline constexpr std::size_t main_pool = std::size_t{1} << 20;

// Begins with a pool of supported_pool(type, main_pool) bytes. Doubles this size until one lane gets a block of each of
// these sizes, all live together, or until the pool has 256 MiB. Returns the size. Designs that keep a part of the pool
// for each size need this.
std::size_t roomy_pool(const AllocatorType& type, const std::vector<std::uint64_t>& sizes);

// Returns request sizes just below, at and above each border that size classes may have: powers of two, 1.5 x powers of
// two, parameters in bytes, and their halves. They go from 1 byte to max_request.
std::vector<std::uint64_t> border_sizes(const AllocatorType& type, std::size_t pool_bytes);

// Returns request sizes above `pool_bytes`, up to 2^64 - 1.
std::vector<std::uint64_t> wild_sizes(std::size_t pool_bytes);

// Returns a text with the first six of these sizes, for messages.
std::string sizes_text(const std::vector<std::uint64_t>& sizes);

// Reports a problem if a pool that served `before` blocks now serves `after` blocks and more than one in fifty is
// missing. The tolerance exists because random walks give up with a few pages left.
void compare_served(Report& report, std::uint64_t bytes, std::uint32_t before, std::uint32_t after,
                    const std::string& when);

// Returns the number of blocks of `bytes` that one lane alone gets before the first null. The blocks stay live.
std::uint32_t fill_alone(Heap& heap, std::uint64_t bytes);
// Returns the number that fill_alone() returns, and frees the blocks afterwards.
std::uint32_t served_alone(Heap& heap, std::uint64_t bytes);

}  // namespace allocbench::contract
