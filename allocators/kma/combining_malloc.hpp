// In the reworked form of KMA, the lanes of a warp reserve blocks together, usually by one subtraction.
//
// Base: Spliet, Howes, Gaster & Varbanescu, GPGPU-7 2014, section 4.2, figures 1 and 2 (kma.hpp has the published
// form). Data and protocols: layout.hpp, superblock.hpp (state words, bitmaps), superblock_queue.hpp,
// superblock_heap.hpp.
//
// Reworked, with the benefit of each change:
//   * The lanes of a warp that request the same block size reserve together, usually by one subtraction, and set their
//     bits by one OR per word. Frees into the same bitmap word need one AND and one addition. In the published form,
//     each thread makes its own compare-exchange, so only one per round trip to the second-level cache succeeds.
//   * The search for a clear bit starts at the bit that would be the next without frees, not at word 0.
//   * The thread that takes the last block also attaches the next superblock. A thread that formats a superblock takes
//     the blocks for its own requests in the same step.
//   * Lanes that together need a whole superblock take it from the queue directly.
//   * Before it returns null, a request takes an active superblock of another size if all its blocks are free. The
//     paper does not use such superblocks.
//   * All threads of a grid reset the heap and write the links of the queue; in the paper one thread enqueues.
//
// As in the published form, free clears the bit before it counts the block, and a block has at least 16 bytes. A
// detached superblock with some free blocks is unreachable until all its blocks are free. So malloc may return null
// although the pool has free blocks.
#pragma once

#include <string>
#include <string_view>

#include "allocators/kma/inspect.hpp"
#include "allocators/kma/layout.hpp"
#include "allocators/kma/superblock_heap.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {
namespace kma {

class CombiningMalloc {
 public:
  using Parameters = kma::Parameters;

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return Layout::max_request(parameters); }
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 1 << 10, .parameters = {.superblock_bytes = 256}, .serves_new = 45};
  }
  // In this heap, the bitmap of a superblock may have two words.
  static SmallHeap<Parameters> second_small_heap() {
    return {.pool_bytes = 3 << 10, .parameters = {.superblock_bytes = 1024}, .serves_new = 126};
  }

  void reset(simt::Stream& stream) { initialise(stream, layout_, State::unused_word); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (layout_.limit.refuses(bytes)) return nullptr;
    const std::uint32_t log2 = log2_of(static_cast<std::uint32_t>(bytes), Superblocks::least_log2);
    // Lanes of a warp may call malloc at different times, so two parties can be in take() at once.
    return take(thread, thread.converged().apart().match_any(log2), log2);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const Superblocks& superblocks = heap_.all();
    const std::size_t offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - superblocks.base);
    const auto superblock = static_cast<std::uint32_t>(offset >> superblocks.bytes_log2);
    // The size and the number of blocks do not change while the block is in use; the count of free blocks may.
    const State state{superblocks.state(thread, superblock).load(simt::relaxed)};
    const auto bit = static_cast<std::uint32_t>(offset & (superblocks.bytes() - 1)) >> state.size_log2();
    const std::uint32_t word = bit / 32;
    const std::uint32_t words_per_superblock_log2 = superblocks.bytes_log2 < 9 ? 0 : superblocks.bytes_log2 - 9;
    const std::uint32_t key = (superblock << words_per_superblock_log2) + word;
    const auto all = thread.converged();
    put(thread, all.match_any(key), superblock, state, word, 1u << bit % 32);
    all.apart().sync();  // lanes leave together, although only some of them may put a superblock into the queue
  }

  std::string broken_invariant(simt::Stream& stream) const { return kma::broken_invariant<State>(stream, layout_); }

 protected:
  static CombiningMalloc lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    CombiningMalloc allocator;
    allocator.layout_ = Layout::of_arena(arena, parameters, name);
    allocator.heap_ = SuperblockHeap(allocator.layout_);
    allocator.reset(arena.stream());
    return allocator;
  }

 private:
  // Serves all lanes of the party. Each of them requests a block of 2^log2 bytes. The leader reserves the blocks and
  // sets their bits.
  template <class Thread, class Party>
  SIMT_FN void* take(Thread& thread, const Party& party, std::uint32_t log2) const {
    const Superblocks& superblocks = heap_.all();
    const std::uint32_t rank = party.thread_rank();
    const std::uint32_t lanes = party.num_threads();
    void* mine = nullptr;
    for (std::uint32_t served = 0; served < lanes;) {
      Grant grant;
      if (party.leader()) grant = heap_.reserve(thread, log2, lanes - served);
      grant.word = party.broadcast(grant.word);
      if (grant.empty()) break;
      std::byte* const begin = superblocks.begin(grant.superblock());
      if (grant.claimed()) {
        if (rank - served < grant.blocks()) {
          mine = begin + (std::size_t{grant.position() + rank - served} << log2);
        }
        served += grant.blocks();
        continue;
      }
      std::uint32_t* const bitmap = superblocks.bitmap(grant.superblock(), superblocks.capacity(log2));
      Claim claim{grant.position()};
      for (std::uint32_t left = grant.blocks(); left != 0;) {
        if (party.leader()) claim.next(thread, bitmap, superblocks.capacity(log2), left);
        const std::uint32_t bits = party.broadcast(claim.bits);
        const std::uint32_t first = party.broadcast(claim.word) * 32;
        const std::uint32_t count = simt::popcount(bits);
        if (rank - served < count) {
          mine = begin + (std::size_t{first + simt::nth_set_bit(bits, rank - served)} << log2);
        }
        served += count;
        left -= count;
      }
    }
    party.sync();  // the leader's acquire covers all lanes
    return mine;
  }

  // Claim is the search of a leader through one bitmap.
  struct Claim {
    std::uint32_t position;  // at first: place of bits that are probably clear
    std::uint32_t word = 0;
    std::uint32_t bits = 0;  // bits that the last next() took
    std::uint32_t seen = 0;  // value of the word after the last next()
    bool started = false;

    // Takes at least one bit and at most `wanted`. Clear bits exist, because the caller has reserved them.
    template <class Thread>
    SIMT_FN void next(Thread& thread, std::uint32_t* bitmap, std::uint32_t capacity, std::uint32_t wanted) {
      std::uint32_t mask;
      if (!started) {
        started = true;
        word = position / 32;
        const std::uint32_t upwards = ~0u << position % 32;
        const std::uint32_t room = 32 - position % 32;
        mask = wanted >= room ? upwards : upwards & ((1u << (position % 32 + wanted)) - 1);
      } else {
        mask = lowest(~seen, wanted);
      }
      for (;;) {
        while (mask == 0) {
          word = word + 1 == Superblocks::bitmap_words(capacity) ? 0 : word + 1;
          thread.probe(simt::Step::walk);
          mask = lowest(~thread.atomic(bitmap[word]).load(simt::relaxed), wanted);
        }
        const std::uint32_t before = thread.atomic(bitmap[word]).fetch_or(mask, simt::acquire);
        seen = before | mask;
        bits = mask & ~before;
        if (bits != 0) return;
        mask = lowest(~seen, wanted);
      }
    }

    static SIMT_FN std::uint32_t lowest(std::uint32_t bits, std::uint32_t count) {
      return simt::popcount(bits) <= count ? bits : bits & ((1u << simt::nth_set_bit(bits, count)) - 1);
    }
  };

  // Frees a block of each lane of the party. All these blocks have their bits in the same word.
  template <class Thread, class Party>
  SIMT_FN void put(Thread& thread, const Party& party, std::uint32_t superblock, State state, std::uint32_t word,
                   std::uint32_t bit) const {
    const std::uint32_t bits = party.reduce_add(bit);
    party.sync();  // the last writes of all lanes come before the leader's release
    if (!party.leader()) return;
    std::uint32_t* const bitmap = heap_.all().bitmap(superblock, state.total());
    thread.atomic(bitmap[word]).fetch_and(~bits, simt::release);
    heap_.release(thread, superblock, party.num_threads());
  }

  Layout layout_;
  SuperblockHeap heap_;
};

}  // namespace kma
}  // namespace allocbench
