// Brings an allocator of equal pages to a given share of free pages before a measurement.
//
// Where free pages lie decides what a search for them costs (Pham et al. 2025, sections 4.2 and 5), so the pattern is
// part of a setting:
//   uniform      a random set of pages is in use, exactly as many as asked for (RandomSubset)
//   first_fit    the pages from the front are in use, the rest is one cluster (FirstPages)
//   self_filled  the allocator's own malloc took them, in requests of a size of choice
//
// An allocator that can mark pages itself offers
//   template <class Used> void occupy(simt::Stream&, const Used& used);   // used(page): is this page in use?
// on a fresh state. For all others, and for self_filled, requests are made, and those that shall be free are freed.
// What is in use then has no owner: only reset() frees it.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "allocators/contract/allocator.hpp"
#include "allocators/contract/session.hpp"
#include "simt/simt.hpp"

namespace allocbench {

// Exactly `chosen` of the numbers 0 to count - 1, by chance: those that a random permutation maps below `chosen`. The
// permutation is a Feistel network on the next power of two; numbers beyond the end are mapped on until one is inside.
// Membership of a number is computed, not stored, so every thread may ask for any.
class RandomSubset {
 public:
  // chosen <= count, count >= 1.
  RandomSubset(std::uint32_t count, std::uint32_t chosen, std::uint64_t seed)
      : count_(count), chosen_(chosen), bits_(std::max(2u, static_cast<std::uint32_t>(std::bit_width(count - 1)))) {
    for (std::uint32_t& key : keys_) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      key = static_cast<std::uint32_t>(seed >> 32);
    }
  }

  SIMT_HOST_FN bool operator()(std::uint32_t number) const {
    do {
      number = permuted(number);
    } while (number >= count_);
    return number < chosen_;
  }

 private:
  // The halves change their widths from round to round where the number of bits is odd.
  SIMT_HOST_FN std::uint32_t permuted(std::uint32_t number) const {
    std::uint32_t low_bits = bits_ / 2;
    std::uint32_t high_bits = bits_ - low_bits;
    for (const std::uint32_t key : keys_) {
      const std::uint32_t low = number & ((1u << low_bits) - 1);
      const std::uint32_t high = number >> low_bits;
      number = low << high_bits | ((high ^ mixed(low ^ key)) & ((1u << high_bits) - 1));
      const std::uint32_t other = low_bits;
      low_bits = high_bits;
      high_bits = other;
    }
    return number;
  }
  // The finalizer of MurmurHash3.
  SIMT_HOST_FN static std::uint32_t mixed(std::uint32_t x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
  }

  std::uint32_t count_;
  std::uint32_t chosen_;
  std::uint32_t bits_;  // of the numbers that are permuted
  std::uint32_t keys_[6];
};

// The numbers below `count`.
struct FirstPages {
  std::uint32_t count;
  SIMT_HOST_FN bool operator()(std::uint32_t number) const { return number < count; }
};

// Requests 0 to count - 1 of one size each.
struct OccupyByMalloc {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t bytes, void** blocks, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    auto&& session = attach(allocator, thread);
    blocks[i] = session.malloc(thread, bytes);
    detach(session, thread);
  }
};
struct FreeUnused {
  template <class Thread, class A, class Used>
  SIMT_FN void operator()(Thread& thread, A allocator, void** blocks, std::uint32_t count, Used used) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count || used(i)) return;
    auto&& session = attach(allocator, thread);
    session.free(thread, blocks[i]);
    detach(session, thread);
  }
};

// Makes `count` requests and frees again those that are not `used`; gives how many are in use. Some requests may be
// refused.
template <class A, class Used>
std::uint32_t occupy_by_malloc(simt::Stream& stream, const A& allocator, std::uint32_t count, std::uint64_t bytes,
                               const Used& used) {
  constexpr std::uint32_t threads = 256;
  const simt::LaunchShape shape{(count + threads - 1) / threads, threads};
  if (count == 0) return 0;
  simt::Buffer<void*> blocks(count);
  simt::launch(stream, shape, OccupyByMalloc{}, allocator, bytes, blocks.data(), count);
  simt::launch(stream, shape, FreeUnused{}, allocator, blocks.data(), count, used);
  const std::vector<void*> host = blocks.to_host(stream);
  std::uint32_t in_use = 0;
  for (std::uint32_t i = 0; i < count; ++i) in_use += host[i] != nullptr && used(i);
  return in_use;
}

// Puts the pages of a fresh allocator into use for which used(page) is true; gives how many are. `pages` is the number
// of all.
template <class A, class Used>
std::uint32_t occupy(simt::Stream& stream, A& allocator, std::uint32_t pages, std::uint64_t page_bytes,
                     const Used& used) {
  if constexpr (requires { allocator.occupy(stream, used); }) {
    allocator.occupy(stream, used);
    std::uint32_t in_use = 0;
    for (std::uint32_t page = 0; page < pages; ++page) in_use += used(page);
    return in_use;
  } else {
    return occupy_by_malloc(stream, allocator, pages, page_bytes, used);
  }
}

// Fills a fresh allocator by its own malloc with `requests` requests; gives how many it served.
template <class A>
std::uint32_t fill_by_malloc(simt::Stream& stream, const A& allocator, std::uint32_t requests, std::uint64_t bytes) {
  return occupy_by_malloc(stream, allocator, requests, bytes, FirstPages{requests});
}

}  // namespace allocbench
