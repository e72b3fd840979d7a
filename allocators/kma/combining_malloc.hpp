// KMA: superblocks of equal blocks, one active per block size, bitmaps inside, a lock-free queue of unused ones.
//
// Paper: Spliet, Howes, Gaster & Varbanescu, GPGPU-7 2014, section 4.2, figures 1 and 2. The upper layer of the paper,
// ArrayList, is containers/array_list.hpp: it works over every allocator.
// Idea:
//   malloc  finds the active superblock of the block size (a power of two), reserves a block in its state word, then
//           takes a clear bit of its bitmap. The thread that takes the last block attaches the next superblock instead.
//   free    clears the bit and counts the block back. The thread that frees the last block of a detached superblock
//           queues the superblock.
// Data and protocols: superblock.hpp (state words, bitmaps), superblock_queue.hpp, superblock_heap.hpp (active table).
//
// Differs from the paper:
//   * free clears the bit before it counts. In the printed order a superblock can be recycled and formatted between
//     the two, and then the late AND frees a block of another owner.
//   * The lanes of a warp that ask for the same block size reserve together, by one subtraction, and set their bits by
//     one OR. Frees into the same bitmap word work likewise. The search starts where a superblock without frees would
//     have its next clear bit. In the paper each thread does a compare-exchange, so one reservation per round trip to
//     the second-level cache succeeds. `kma_published` keeps that, searches from word 0 and does not combine.
//   * Lanes that together need a whole superblock take it from the queue directly.
//   * Before null, a request looks for active superblocks of other sizes that are entirely free; the paper leaves them.
//   * The smallest block is 16 bytes (paper: 4), because every block is 16-byte aligned. The size heuristics of the
//     paper are unpublished; here it is the next power of two. All threads together fill the queue.
// Kept: a detached superblock with some free blocks is unreachable until all are free, so null may come early.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "allocators/common/request.hpp"
#include "allocators/contract/allocator.hpp"
#include "allocators/kma/superblock_heap.hpp"

namespace allocbench {
namespace kma {

struct Parameters {
  std::uint64_t superblock_bytes = 64 << 10;

  static auto fields() {
    return std::tuple{Field{"superblock_bytes", &Parameters::superblock_bytes, "B",
                            "size of a superblock; blocks reach half of it. The case study of the paper has 4096",
                            "sec. 4.2, chosen by the user"}
                          .between(256, 1 << 20)
                          .powers_of_two()};
  }
};

struct Initialise {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, SuperblockHeap heap) const {
    heap.initialise(thread);
  }
};

// A group of one lane.
struct Alone {
  SIMT_FN bool leader() const { return true; }
  SIMT_FN std::uint32_t thread_rank() const { return 0; }
  SIMT_FN std::uint32_t num_threads() const { return 1; }
  SIMT_FN std::uint32_t reduce_add(std::uint32_t value) const { return value; }
  template <class T>
  SIMT_FN T broadcast(T value) const {
    return value;
  }
  SIMT_FN void sync() const {}
};

enum class Combining { none, warp };

template <Combining combining>
class Malloc {
 public:
  using Parameters = kma::Parameters;

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return parameters.superblock_bytes / 2; }
  static SmallHeap<Parameters> small_heap() { return {1 << 10, {.superblock_bytes = 256}}; }

  void reset(simt::Stream& stream) {
    constexpr std::uint32_t threads = 256;
    const std::uint32_t blocks = std::min((heap_.superblocks().count + threads - 1) / threads, 4096u);
    simt::launch(stream, {blocks, threads}, Initialise{}, heap_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (limit_.refuses(bytes)) return nullptr;
    const std::uint32_t log2 = log2_of(static_cast<std::uint32_t>(bytes), Superblocks::least_log2);
    if constexpr (combining == Combining::warp) {
      return take(thread, thread.converged().match_any(log2), log2);
    } else {
      return take(thread, Alone{}, log2);
    }
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const Superblocks& superblocks = heap_.all();
    const std::size_t offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - superblocks.base);
    const auto superblock = static_cast<std::uint32_t>(offset >> superblocks.bytes_log2);
    // Size and total do not change while the block is in use; the count may.
    const State state{superblocks.state(thread, superblock).load(simt::relaxed)};
    const auto bit = static_cast<std::uint32_t>(offset & (superblocks.bytes() - 1)) >> state.size_log2();
    const std::uint32_t word = bit / 32;
    if constexpr (combining == Combining::warp) {
      const std::uint32_t words_per_superblock_log2 = superblocks.bytes_log2 < 9 ? 0 : superblocks.bytes_log2 - 9;
      const std::uint32_t key = (superblock << words_per_superblock_log2) + word;
      put(thread, thread.converged().match_any(key), superblock, state, word, 1u << bit % 32);
    } else {
      put(thread, Alone{}, superblock, state, word, 1u << bit % 32);
    }
  }

  // On the host, when no kernel runs: every superblock is in the queue, in the active table, or detached and in use,
  // and counts agree with bitmaps. Empty when that holds.
  std::string broken_invariant(simt::Stream& stream) const;

 protected:
  // `name` is the plug-in's, for messages.
  static Malloc lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    const Pool pool = arena.pool();
    const std::size_t count = pool.bytes / parameters.superblock_bytes;
    if (count < 2) {
      throw Unsupported(std::string(name) + " needs a pool of at least two superblocks, " +
                        std::to_string(2 * parameters.superblock_bytes) + " bytes");
    }
    if (count >= SuperblockHeap::busy || pool.bytes >> 9 > UINT32_MAX) {
      throw Unsupported(std::string(name) + " numbers superblocks with 32 bits");
    }
    Superblocks superblocks;
    superblocks.base = pool.base;
    superblocks.states = arena.metadata<std::uint64_t>(count);
    superblocks.count = static_cast<std::uint32_t>(count);
    superblocks.bytes_log2 = static_cast<std::uint32_t>(std::countr_zero(parameters.superblock_bytes));
    Malloc allocator;
    allocator.limit_.bytes = max_request(pool.bytes, parameters);
    allocator.heap_ = SuperblockHeap(
        superblocks, SuperblockQueue(arena.metadata<SuperblockQueue::Ends>(1), arena.metadata<std::uint64_t>(count)),
        arena.metadata<std::uint32_t>(SuperblockHeap::entries));
    allocator.reset(arena.stream());
    return allocator;
  }

 private:
  // All lanes of the party want one block of 2^log2 bytes; the leader reserves and claims for them.
  template <class Thread, class Party>
  SIMT_FN void* take(Thread& thread, const Party& party, std::uint32_t log2) const {
    const Superblocks& superblocks = heap_.all();
    const std::uint32_t rank = party.thread_rank();
    const std::uint32_t lanes = party.num_threads();
    void* mine = nullptr;
    for (std::uint32_t served = 0; served < lanes;) {
      Grant grant;
      if (party.leader()) grant = heap_.template reserve<combining == Combining::none>(thread, log2, lanes - served);
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
    party.sync();  // what the leader acquired, all lanes have
    return mine;
  }

  // The search of a leader through one bitmap.
  struct Claim {
    std::uint32_t position;  // before the first attempt: where bits are probably clear
    std::uint32_t word = 0;
    std::uint32_t bits = 0;  // taken by the last next()
    std::uint32_t seen = 0;  // the word after it
    bool started = false;

    // Takes at least one bit and at most `wanted`. They exist, because the caller has reserved them.
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

  // All lanes of the party free a block of the same bitmap word.
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

  SuperblockHeap heap_;
  RequestLimit limit_;
};

template <Combining combining>
std::string Malloc<combining>::broken_invariant(simt::Stream& stream) const {
  const Superblocks& superblocks = heap_.superblocks();
  const auto copy = [&](const auto* device, std::size_t count) {
    std::vector<std::remove_cv_t<std::remove_reference_t<decltype(*device)>>> host(count);
    simt::copy_to_host(stream, host.data(), device, count * sizeof host[0]);
    return host;
  };
  const auto states = copy(superblocks.states, superblocks.count);
  const auto links = copy(heap_.unused().links(), superblocks.count);
  const auto active = copy(heap_.active(), SuperblockHeap::entries);
  const auto ends = copy(heap_.unused().ends(), 1).front();
  const auto name = [](std::size_t superblock) { return "superblock " + std::to_string(superblock); };

  std::vector<bool> queued(superblocks.count);
  for (std::uint32_t i = SuperblockQueue::index(ends.head); i != SuperblockQueue::none;
       i = SuperblockQueue::index(links[i])) {
    if (i >= superblocks.count || queued[i]) return "the queue leads to " + name(i) + " outside or again";
    queued[i] = true;
    if (states[i] != State::unused_word) return name(i) + " is queued but not marked unused";
  }
  std::vector<bool> listed(superblocks.count);
  for (std::uint32_t log2 = 0; log2 < SuperblockHeap::entries; ++log2) {
    if (active[log2] == SuperblockHeap::empty) continue;
    if (active[log2] == SuperblockHeap::busy) return "entry " + std::to_string(log2) + " is still busy";
    if (!State{states[active[log2]]}.serves(log2)) return name(active[log2]) + " is listed for another block size";
    listed[active[log2]] = true;
  }
  for (std::size_t i = 0; i < superblocks.count; ++i) {
    const State state{states[i]};
    if (queued[i]) continue;
    if (state.unused() || state.attached() != listed[i]) return name(i) + " is in no list where it belongs";
    if (state.recyclable()) return name(i) + " is entirely free but not queued";
    const auto bitmap = copy(superblocks.bitmap(static_cast<std::uint32_t>(i), state.total()),
                             Superblocks::bitmap_words(state.total()));
    std::int64_t clear = 0;
    for (const std::uint32_t word : bitmap) clear += 32 - std::popcount(word);
    if (clear != state.free()) {
      return name(i) + " counts " + std::to_string(state.free()) + " free blocks, its bitmap " + std::to_string(clear);
    }
  }
  return {};
}

}  // namespace kma
}  // namespace allocbench
