// Brings an allocator to a given share of free pages before a measurement.
//
// Where free pages lie decides what a search for them costs (Pham et al. 2025, sections 4.2 and 5), so the pattern is
// part of a setting:
//   uniform      a random set of pages is in use, exactly as many as asked for (RandomSubset)
//   first_fit    the pages from the front are in use, the rest is one cluster (FirstPages)
//   self_filled  the allocator's own malloc took them
//
// An allocator of equal pages that can mark them itself offers
//   std::uint32_t page_count() const;
//   template <class Used> void occupy(simt::Stream&, const Used& used) const;  // used(page): is this page in use?
// for a fresh state; what is in use then has no owner, and reset() frees it. Others are filled by malloc, and the
// blocks that shall be free are freed again (Occupants); numbers then count requests instead of pages.
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
// Membership of a number is computed, not stored, so every thread may ask for any. With a cluster of more than one,
// groups of so many neighbours, a power of two, are chosen together, and the number of the chosen is rounded to groups.
class RandomSubset {
 public:
  // chosen <= count, count >= 1.
  RandomSubset(std::uint32_t count, std::uint32_t chosen, std::uint64_t seed, std::uint32_t cluster = 1)
      : shift_(static_cast<std::uint32_t>(std::bit_width(cluster) - 1)),
        count_(((count - 1) >> shift_) + 1),
        chosen_(static_cast<std::uint32_t>((std::uint64_t{chosen} + cluster / 2) >> shift_)),
        bits_(std::max(2u, static_cast<std::uint32_t>(std::bit_width(count_ - 1)))) {
    for (std::uint32_t& key : keys_) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      key = static_cast<std::uint32_t>(seed >> 32);
    }
  }

  SIMT_HOST_FN bool operator()(std::uint32_t number) const {
    number >>= shift_;
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

  std::uint32_t shift_;  // log2 of the numbers of a group
  std::uint32_t count_;  // of groups, as what follows
  std::uint32_t chosen_;
  std::uint32_t bits_;  // of the numbers that are permuted
  std::uint32_t keys_[6];
};

// The numbers below `count`.
struct FirstPages {
  std::uint32_t count;
  SIMT_HOST_FN bool operator()(std::uint32_t number) const { return number < count; }
};

template <class A>
concept MarksPages = requires(A& allocator, simt::Stream& stream) {
  allocator.page_count();
  allocator.occupy(stream, FirstPages{0});
};

// One request per thread, until many were refused: the others would search a full pool for nothing, which takes some
// designs the longer, the fuller it is.
struct OccupyKernel {
  static constexpr std::uint32_t enough_refusals = 1024;

  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t bytes, void** blocks, std::uint32_t count,
                          std::uint32_t* refusals) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    const auto refused = thread.atomic(*refusals);
    const auto group = thread.converged();  // all lanes decide alike, for designs that need whole warps
    const std::uint32_t before = group.broadcast(group.leader() ? refused.load(simt::relaxed) : 0);
    blocks[i] = nullptr;
    if (before >= enough_refusals) return;
    auto&& session = attach(allocator, thread);
    void* const block = session.malloc(thread, bytes);
    detach(session, thread);
    blocks[i] = block;
    if (block == nullptr) refused.fetch_add(1u, simt::relaxed);
  }
};
// Frees the blocks for which used(i) is `wanted`.
struct VacateKernel {
  template <class Thread, class A, class Used>
  SIMT_FN void operator()(Thread& thread, A allocator, void** blocks, std::uint32_t count, Used used,
                          bool wanted) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count || used(i) != wanted) return;
    auto&& session = attach(allocator, thread);
    session.free(thread, blocks[i]);
    detach(session, thread);
    blocks[i] = nullptr;
  }
};

// How many of `blocks` are not null.
struct CountBlocks {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, void* const* blocks, std::uint32_t count, std::uint32_t* present) const {
    const std::uint32_t i = thread.rank_in_grid();
    const auto group = thread.converged();
    const simt::LaneMask served = group.ballot(i < count && blocks[i] != nullptr);
    if (group.leader() && served != 0) thread.atomic(*present).fetch_add(simt::popcount(served), simt::relaxed);
  }
};

// Blocks that the allocator's own malloc made and that keep memory in use.
class Occupants {
 public:
  // Up to so many.
  Occupants(simt::Stream& stream, std::uint32_t count) : stream_(stream), blocks_(count) {}

  std::uint32_t count() const { return static_cast<std::uint32_t>(blocks_.size()); }

  // Makes all requests, unless many are refused, and frees again those that are not `used`.
  template <class A, class Used>
  void enter(const A& allocator, std::uint64_t bytes, const Used& used) {
    if (blocks_.size() == 0) return;
    refusals_.fill_bytes(stream_, 0);
    simt::launch(stream_, shape(), OccupyKernel{}, allocator, bytes, blocks_.data(), count(), refusals_.data());
    simt::launch(stream_, shape(), VacateKernel{}, allocator, blocks_.data(), count(), used, false);
  }
  template <class A, class Used>
  void leave(const A& allocator, const Used& used) {
    if (blocks_.size() == 0) return;
    simt::launch(stream_, shape(), VacateKernel{}, allocator, blocks_.data(), count(), used, true);
  }

  // How many there are now.
  std::uint32_t present() const {
    simt::Buffer<std::uint32_t> sum(1);
    sum.fill_bytes(stream_, 0);
    if (count() != 0) {
      simt::launch(stream_, shape(), CountBlocks{}, static_cast<void* const*>(blocks_.data()), count(), sum.data());
    }
    return sum.to_host(stream_).front();
  }

  // Those that are there now.
  std::vector<void*> blocks() const {
    std::vector<void*> present = blocks_.to_host(stream_);
    present.erase(std::remove(present.begin(), present.end(), nullptr), present.end());
    return present;
  }

 private:
  static constexpr std::uint32_t threads_per_block = 256;

  simt::LaunchShape shape() const { return {(count() - 1) / threads_per_block + 1, threads_per_block}; }

  simt::Stream& stream_;
  simt::Buffer<void*> blocks_;
  simt::Buffer<std::uint32_t> refusals_{1};
};

}  // namespace allocbench
