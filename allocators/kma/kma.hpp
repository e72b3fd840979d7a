// KMA divides memory into superblocks of equal blocks. Each block size has at most one active superblock, each
// superblock has a bitmap, and a lock-free queue contains the unused superblocks.
//
// Paper: Spliet, Howes, Gaster & Varbanescu, GPGPU-7 2014, section 4.2, figures 1 and 2. The upper layer of the paper,
// ArrayList, is in containers/array_list.hpp.
//
// Idea:
//   malloc  A thread finds the active superblock of the block size (a power of two), or prepares a superblock from the
//           queue. It reserves a block by a compare-exchange of the superblock's state word. Then it searches the
//           superblock's bitmap from the beginning for a clear bit and takes the bit by an atomic OR. The request that
//           reserves the last block detaches the superblock.
//   free    A thread clears the bit by an atomic AND and counts the block back by a compare-exchange. If all blocks of
//           a detached superblock are free now, the thread queues the superblock. Lanes of a warp do not combine calls.
//   reset   A kernel with one thread enqueues superblock after superblock (section 5.3).
//
// Data: layout.hpp, superblock_queue.hpp, and a state word per superblock:
//
//   bits  0-15  free blocks     bits 32-37  log2 of the block size     bit 39  dead: in the queue, or being prepared
//   bits 16-31  blocks in all   bit  38     attached: active           bits 40-63  tag, one more with every change
//
// Protocol: One thread prepares a superblock and is its only owner. It clears the bitmap, then stores the state and
// then the entry of the active table, both with release. A reservation acquires the state. It compares the whole word,
// tag included, so it fails if the superblock was reused (no ABA). Clearing a bit releases, and setting it acquires.
// Bits are cleared before they are counted, so every reservation has a clear bit.
//
// Differs from the paper:
//   * free clears the bit before it counts the block. In the paper's order a superblock can be recycled and formatted
//     between the two steps, and the late AND then frees a block of another owner.
//   * The smallest block of `kma` is 16 bytes, because every block is 16-byte aligned. `kma_from_4_bytes` has the
//     paper's blocks of 4 bytes and more, each aligned to its size, but at most to 16.
//   * If a size has no active superblock and the queue is empty, malloc returns null.
//   * Assumed, because the paper does not say: Requests are rounded to the next power of two, because the size
//     heuristics are unpublished. An attached superblock stays attached when all its blocks are free. Size and flags
//     share the state word.
// As in the paper, a detached superblock with some free blocks is unreachable until all its blocks are free. An active
// superblock serves only its block size, even if all its blocks are free. So malloc may return null although the pool
// has free blocks.
#pragma once

#include "allocators/kma/inspect.hpp"
#include "allocators/kma/layout.hpp"

namespace allocbench {
namespace kma {

// ExchangedState is the state word of the published form.
struct ExchangedState {
  static constexpr std::uint64_t attached_flag = std::uint64_t{1} << 38;
  static constexpr std::uint64_t dead_flag = std::uint64_t{1} << 39;
  static constexpr std::uint64_t one_change = std::uint64_t{1} << 40;

  std::uint64_t word;

  SIMT_HOST_FN std::uint32_t free() const { return static_cast<std::uint32_t>(word & 0xffff); }
  SIMT_HOST_FN std::uint32_t total() const { return static_cast<std::uint32_t>(word >> 16 & 0xffff); }
  SIMT_HOST_FN std::uint32_t size_log2() const { return static_cast<std::uint32_t>(word >> 32 & 0x3f); }
  SIMT_HOST_FN bool attached() const { return (word & attached_flag) != 0; }
  SIMT_HOST_FN bool unused() const { return (word & dead_flag) != 0; }
  SIMT_HOST_FN bool serves(std::uint32_t log2) const { return attached() && size_log2() == log2; }
  SIMT_HOST_FN bool recyclable() const { return !attached() && !unused() && free() == total(); }

  // These functions return the word after a change.
  SIMT_FN std::uint64_t prepared(std::uint32_t blocks, std::uint32_t log2) const {
    return (word & ~(one_change - 1)) + one_change +
           (attached_flag | std::uint64_t{log2} << 32 | std::uint64_t{blocks} << 16 | blocks);
  }
  SIMT_FN std::uint64_t reserved() const { return (free() == 1 ? word & ~attached_flag : word) - 1 + one_change; }
  SIMT_FN std::uint64_t counted_back() const {
    const std::uint64_t after = word + 1 + one_change;
    return ExchangedState{after}.recyclable() ? after | dead_flag : after;
  }
};

// ExchangingMalloc serves blocks of 2^least_log2 bytes and more.
template <std::uint32_t least_log2>
class ExchangingMalloc {
 public:
  using Parameters = kma::Parameters;

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return Layout::max_request(parameters); }
  // Three of the four superblocks can be used, because one stays in the queue. The active superblock of a block
  // size stays bound to this size, even when all its blocks are free. So other sizes get two of the three.
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 1 << 10, .parameters = {.superblock_bytes = 256}, .serves_other_sizes = 0.6};
  }
  // In this heap, the bitmap of a superblock may have more than one word.
  static SmallHeap<Parameters> second_small_heap() {
    return {.pool_bytes = 4 << 10, .parameters = {.superblock_bytes = 1024}, .serves_other_sizes = 0.6};
  }

  void reset(simt::Stream& stream) { initialise_by_one_thread(stream, layout_, ExchangedState::dead_flag); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (layout_.limit.refuses(bytes)) return nullptr;
    const std::uint32_t log2 = log2_of(static_cast<std::uint32_t>(bytes), least_log2);
    for (;;) {
      const std::uint32_t superblock = active_superblock(thread, log2);
      if (superblock == Layout::empty) return nullptr;
      if (reserve(thread, superblock, log2)) return take_block(thread, superblock, log2);
      thread.spin_hint();  // waits until the thread that took the last block has detached the superblock
    }
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::size_t offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - layout_.superblocks.base);
    const auto superblock = static_cast<std::uint32_t>(offset >> layout_.superblocks.bytes_log2);
    const auto word = layout_.superblocks.state(thread, superblock);
    // The size and the number of blocks do not change while the block is in use; the count of free blocks may.
    ExchangedState state{word.load(simt::relaxed)};
    const auto bit = static_cast<std::uint32_t>(offset & (layout_.superblocks.bytes() - 1)) >> state.size_log2();
    std::uint32_t* const bitmap = layout_.superblocks.bitmap(superblock, state.total());
    thread.atomic(bitmap[bit / 32]).fetch_and(~(1u << bit % 32), simt::release);
    while (!word.compare_exchange(state.word, state.counted_back(), simt::acq_rel, simt::relaxed)) {
      thread.probe(simt::Step::retry);
    }
    if (ExchangedState{state.counted_back()}.unused()) layout_.unused.push(thread, superblock);
  }

  std::string broken_invariant(simt::Stream& stream) const {
    return kma::broken_invariant<ExchangedState>(stream, layout_);
  }

 protected:
  static ExchangingMalloc lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    ExchangingMalloc allocator;
    allocator.layout_ = Layout::of_arena(arena, parameters, name, least_log2);
    allocator.reset(arena.stream());
    return allocator;
  }

  Layout layout_;

 private:
  // Returns the active superblock of the size. If there is none, prepares one. Returns `empty` if there is no unused
  // superblock either.
  template <class Thread>
  SIMT_FN std::uint32_t active_superblock(Thread& thread, std::uint32_t log2) const {
    const auto entry = thread.atomic(layout_.active[log2]);
    for (;;) {
      std::uint32_t found = entry.load(simt::acquire);
      if (found == Layout::busy) {
        thread.spin_hint();
      } else if (found != Layout::empty) {
        return found;
      } else if (entry.compare_exchange(found, Layout::busy, simt::acquire, simt::relaxed)) {
        const std::uint32_t fresh = layout_.unused.pop(thread);
        if (fresh != SuperblockQueue::none) prepare(thread, fresh, log2);
        entry.store(fresh, simt::release);
        return fresh;
      }
    }
  }
  static_assert(SuperblockQueue::none == Layout::empty);

  template <class Thread>
  SIMT_FN void prepare(Thread& thread, std::uint32_t superblock, std::uint32_t log2) const {
    const std::uint32_t blocks = layout_.superblocks.capacity(log2);
    std::uint32_t* const bitmap = layout_.superblocks.bitmap(superblock, blocks);
    for (std::uint32_t word = 0; word < SuperblockArray::bitmap_words(blocks); ++word) {
      thread.atomic(bitmap[word]).store(SuperblockArray::surplus_bits(word, blocks), simt::relaxed);
    }
    const auto state = layout_.superblocks.state(thread, superblock);
    const ExchangedState before{state.load(simt::relaxed)};
    state.store(before.prepared(blocks, log2), simt::release);
  }

  template <class Thread>
  SIMT_FN bool reserve(Thread& thread, std::uint32_t superblock, std::uint32_t log2) const {
    const auto word = layout_.superblocks.state(thread, superblock);
    ExchangedState state{word.load(simt::acquire)};
    for (;;) {
      if (!state.serves(log2) || state.free() == 0) return false;
      if (word.compare_exchange(state.word, state.reserved(), simt::acquire, simt::acquire)) break;
      thread.probe(simt::Step::retry);
    }
    if (state.free() == 1) detach(thread, superblock, log2);
    return true;
  }

  // Detaches the superblock. The thread that reserved the last block calls this function. A thread that saw the
  // superblock active before its reuse may reserve a block before the superblock is in the active table again. Then the
  // entry is busy for a moment, and this function waits.
  template <class Thread>
  SIMT_FN void detach(Thread& thread, std::uint32_t superblock, std::uint32_t log2) const {
    const auto entry = thread.atomic(layout_.active[log2]);
    std::uint32_t expected = superblock;
    while (!entry.compare_exchange(expected, Layout::empty, simt::relaxed, simt::relaxed)) {
      expected = superblock;
      thread.spin_hint();
    }
  }

  // Takes the bit of a reserved block and returns the block.
  template <class Thread>
  SIMT_FN void* take_block(Thread& thread, std::uint32_t superblock, std::uint32_t log2) const {
    const std::uint32_t blocks = layout_.superblocks.capacity(log2);
    const std::uint32_t words = SuperblockArray::bitmap_words(blocks);
    std::uint32_t* const bitmap = layout_.superblocks.bitmap(superblock, blocks);
    for (std::uint32_t word = 0;; word = word + 1 == words ? 0 : word + 1) {
      std::uint32_t seen = thread.atomic(bitmap[word]).load(simt::relaxed);
      while (seen != ~0u) {
        const std::uint32_t bit = simt::count_trailing_zeros(~seen);
        const std::uint32_t before = thread.atomic(bitmap[word]).fetch_or(1u << bit, simt::acquire);
        if ((before >> bit & 1) == 0) {
          return layout_.superblocks.begin(superblock) + (std::size_t{word * 32 + bit} << log2);
        }
        seen = before | 1u << bit;
      }
      thread.probe(simt::Step::walk);
    }
  }
};

}  // namespace kma

struct Kma : kma::ExchangingMalloc<kma::SuperblockArray::least_log2> {
  static constexpr Traits traits{.name = "kma",
                                 .display_name = "KMA",
                                 .paper = "Spliet et al. 2014, sec. 4.2",
                                 .summary =
                                     "superblocks with bitmaps, one active per block size; every thread reserves by "
                                     "its own compare-exchange",
                                 .form = Form::published};
  static Kma create(Arena& arena, const Parameters& parameters) { return {lay_out(arena, parameters, traits.name)}; }
};

struct KmaFrom4Bytes : kma::ExchangingMalloc<2> {
  static constexpr Traits traits{.name = "kma_from_4_bytes",
                                 .display_name = "KMA, blocks from 4 B",
                                 .paper = "Spliet et al. 2014, sec. 4.2",
                                 .summary =
                                     "as kma, with the paper's smallest block of 4 bytes: a block is aligned to "
                                     "its size, at most to 16 bytes",
                                 .form = Form::published,
                                 .alignment = 4};
  static KmaFrom4Bytes create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(kma, Kma, KmaFrom4Bytes)
