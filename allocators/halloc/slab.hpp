// Slabs holds the slabs of reworked Halloc: their state words, their bits, and the sets in which searches find them.
//
// The state word of a slab has 64 bits:
// * Bits 32-63 are the era, which increases whenever the slab becomes a head.
// * Bits 8-31 count the chunks in use or reserved. They can count a block of every thread of a GPU at once.
// * Bit 5 marks a head: a size allocates from the slab, or keeps it as its next head.
// * Bit 4 marks a formatted slab, which has a kind. The bit is clear in a free slab.
// * Bits 0-3 are the last size of which the slab was a head.
//
// Bits: There is one 64-bit word per 32 chunks. A bit of the low half marks a chunk in use. A bit of the high half
// marks a chunk that continues the block of the chunk before it. A free finds the length of a block by these marks.
// They are set after the block is won and cleared with the block.
//
// Protocol:
// * allocate: A thread adds its chunks to the count and ORs its bits, in any order. The thread owns the block if its
//   bits were clear and the old state word shows a formatted slab with the era of the thread's head. If the bits were
//   taken, it tries others. If the state word does not match or all tries fail, it clears the bits that it set,
//   subtracts, and requests a new head.
// * free: A thread clears the bits, then subtracts. The count is never below the number of bits that owners hold.
// * subtract: If a thread lowers the count of a slab across a threshold and the slab is not a head, it files the slab
//   in the set of its new class. At zero it frees the slab by a compare-exchange of exactly this word, so that neither
//   a late addition nor a new head is lost. Then it removes the slab from the set of its old class, and puts it back if
//   the slab is of that class again. A withdrawn allocation subtracts by the same rule.
// * take: A slab found in a set becomes a head by a compare-exchange. A slab that has left the class is filed again.
//   Sets may also contain slabs that no longer belong to them. A slab that is not a head, not free and not crammed
//   (size_classes.hpp) is in one of the sets.
//
// Orders: A free releases bits and count, and an allocation acquires the bits. The addition is relaxed: the era that
// the old word must show was published with the head (release, acquire), after everything that emptied or filled the
// slab before. All writes to a state word are read-modify-writes of one release sequence.
//
// ABA: The era protects the word. It would fail only for a thread that sleeps while its slab becomes a head 2^32 times.
#pragma once

#include "allocators/halloc/size_classes.hpp"
#include "allocators/halloc/slab_set.hpp"

namespace allocbench::halloc {

struct SlabState {
  static constexpr std::uint64_t one_chunk = 256;
  static constexpr std::uint64_t head_flag = 32;
  static constexpr std::uint64_t formatted_flag = 16;
  static constexpr std::uint64_t era_step = std::uint64_t{1} << 32;
  static constexpr std::uint64_t low_byte = 255;

  SIMT_HOST_FN static std::uint32_t era(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
  SIMT_HOST_FN static std::uint32_t count(std::uint64_t word) { return static_cast<std::uint32_t>(word) >> 8; }
  SIMT_HOST_FN static bool head(std::uint64_t word) { return (word & head_flag) != 0; }
  SIMT_HOST_FN static bool formatted(std::uint64_t word) { return (word & formatted_flag) != 0; }
  SIMT_HOST_FN static std::uint32_t id(std::uint64_t word) { return static_cast<std::uint32_t>(word) & 15; }
};

// Head is a head as sizes publish it: the slab's index in the lower half and the slab's era in the upper half.
struct Head {
  static constexpr std::uint64_t none = no_slab;
  SIMT_HOST_FN static std::uint64_t of(std::uint32_t slab, std::uint64_t state) {
    return (state & ~std::uint64_t{0xffffffffu}) | slab;
  }
  SIMT_HOST_FN static std::uint32_t slab(std::uint64_t head) { return static_cast<std::uint32_t>(head); }
  SIMT_HOST_FN static bool exists(std::uint64_t head) { return slab(head) != no_slab; }
};

struct Slabs {
  SizeClasses classes;
  std::byte* base = nullptr;
  std::uint32_t count = 0;
  std::uint32_t shift = 22;            // log2 of the bytes of a slab
  std::uint64_t* states = nullptr;     // one state per slab
  std::uint32_t* kinds = nullptr;      // kinds of formatted slabs, apart from the states, which all allocations write
  std::uint64_t* bits = nullptr;       // slab bytes / 512 words of bits per slab
  std::uint32_t* set_words = nullptr;  // free set, sparse sets per kind, roomy sets per size, busy sets per size

  static constexpr std::uint32_t set_count = 1 + kind_count + 2 * size_count;
  SIMT_HOST_FN SlabSet set(std::uint32_t index) const {
    const std::uint32_t stride = SlabSet::words_for(count);
    return {set_words + std::size_t{index} * stride, stride - SlabSet::header_words};
  }
  SIMT_HOST_FN static std::uint32_t sparse_index(std::uint32_t kind) { return 1 + kind; }
  SIMT_HOST_FN static std::uint32_t roomy_index(std::uint32_t id) { return 1 + kind_count + id; }
  SIMT_HOST_FN static std::uint32_t busy_index(std::uint32_t id) { return 1 + kind_count + size_count + id; }
  SIMT_HOST_FN SlabSet free_set() const { return set(0); }
  SIMT_HOST_FN SlabSet sparse_set(std::uint32_t kind) const { return set(sparse_index(kind)); }
  SIMT_HOST_FN SlabSet roomy_set(std::uint32_t id) const { return set(roomy_index(id)); }
  SIMT_HOST_FN SlabSet busy_set(std::uint32_t id) const { return set(busy_index(id)); }

  SIMT_HOST_FN std::size_t bit_word(std::uint32_t slab, std::uint32_t chunk) const {
    return (std::size_t{slab} << (shift - 9)) + chunk / 32;
  }
  SIMT_FN std::byte* address(std::uint32_t slab, std::uint32_t kind, std::uint32_t chunk) const {
    return base + (std::size_t{slab} << shift) + offset_of_chunk(kind, chunk);
  }

  // Returns whether an allocation from `head` is valid if it found the state `before`.
  SIMT_HOST_FN static bool allows(std::uint64_t before, std::uint64_t head) {
    return SlabState::era(before) == SlabState::era(head) && SlabState::formatted(before);
  }

  template <class Thread>
  SIMT_FN std::uint64_t reserve(Thread& thread, std::uint32_t slab, std::uint32_t chunks) const {
    return thread.atomic(states[slab]).fetch_add(chunks * SlabState::one_chunk, simt::relaxed);
  }

  // Sets all bits of the block of 2^log chunks at `chunk`, a multiple of 2^log. Returns false and sets none if one of
  // them is already set.
  template <class Thread>
  SIMT_FN bool set_bits(Thread& thread, std::uint32_t slab, std::uint32_t chunk, std::uint32_t log) const {
    thread.probe(simt::Step::attempt);
    const auto word = thread.atomic(bits[bit_word(slab, chunk)]);
    const std::uint64_t mask = block_mask(chunk, log);
    const std::uint64_t taken = word.fetch_or(mask, simt::acquire) & mask;
    if (taken == 0) return true;
    // Relaxed is enough: no thread saw these bits as a block, and the release sequence of the word continues.
    if (taken != mask) word.fetch_and(~(mask & ~taken), simt::relaxed);
    return false;
  }

  // Marks the length of a block whose allocation has succeeded.
  template <class Thread>
  SIMT_FN void mark_length(Thread& thread, std::uint32_t slab, std::uint32_t chunk, std::uint32_t log) const {
    if (log == 0) return;
    const std::uint64_t mask = block_mask(chunk, log);
    thread.atomic(bits[bit_word(slab, chunk)]).fetch_or((mask & (mask - 1)) << 32, simt::relaxed);
  }

  // Clears the bits of a failed allocation, whose length is not marked yet.
  template <class Thread>
  SIMT_FN void withdraw_bits(Thread& thread, std::uint32_t slab, std::uint32_t chunk, std::uint32_t log) const {
    thread.atomic(bits[bit_word(slab, chunk)]).fetch_and(~block_mask(chunk, log), simt::relaxed);
  }

  // Clears the block that starts at `chunk` and returns the number of its chunks.
  template <class Thread>
  SIMT_FN std::uint32_t clear_block(Thread& thread, std::uint32_t slab, std::uint32_t chunk) const {
    const auto word = thread.atomic(bits[bit_word(slab, chunk)]);
    // The marks of an owned block do not change, and the block ends where they end.
    const auto marks = static_cast<std::uint32_t>(word.load(simt::relaxed) >> 32);
    const std::uint32_t behind = chunk % 32 == 31 ? 0 : marks >> (chunk % 32 + 1);
    const std::uint32_t length = 1 + simt::count_trailing_zeros(~behind);
    const std::uint64_t mask = ((std::uint64_t{1} << length) - 1) << chunk % 32;
    word.fetch_and(~(mask | mask << 32), simt::release);
    return length;
  }

  // Lowers the count of a slab. If the count crosses a threshold, files or frees the slab, unless it is a head.
  template <class Thread>
  SIMT_FN void subtract(Thread& thread, std::uint32_t slab, std::uint32_t chunks) const {
    const std::uint64_t before = thread.atomic(states[slab]).fetch_sub(chunks * SlabState::one_chunk, simt::release);
    if (SlabState::head(before) || !SlabState::formatted(before)) return;
    const Thresholds limits = classes.thresholds(kind_of(SlabState::id(before)));
    const std::uint32_t old_count = SlabState::count(before);
    const std::uint32_t new_count = old_count - chunks;
    const auto crossed = [&](std::uint32_t limit) { return old_count > limit && new_count <= limit; };
    if (new_count == 0 || crossed(limits.sparse) || crossed(limits.roomy) || crossed(limits.crammed)) {
      file(thread, slab, before - chunks * SlabState::one_chunk);
      unfile(thread, slab, set_index(before));
    }
  }

  // Puts a slab that is not a head into the set of its state word, where the search for heads finds it. Frees the slab
  // if it is empty.
  template <class Thread>
  SIMT_FN void file(Thread& thread, std::uint32_t slab, std::uint64_t state) const {
    while (SlabState::count(state) == 0) {
      if (SlabState::head(state) || !SlabState::formatted(state)) return;
      const std::uint64_t freed = state & ~SlabState::low_byte;
      if (thread.atomic(states[slab]).compare_exchange(state, freed, simt::acq_rel, simt::acquire)) {
        free_set().add(thread, slab);
        return;
      }
    }
    // A thread that changed the word meanwhile may also have filed the slab or made it a head. detach() files heads.
    const std::uint32_t index = set_index(state);
    if (index != no_set) set(index).add(thread, slab);
  }

  // Turns a slab in use into the head of a size, if its kind (and its size, unless it is sparse) is right and at most
  // `limit` chunks are in use. `seen` is the state before the slab was removed from its set. It may be old: a
  // compare-exchange confirms it before the slab becomes a head, and the state is read again before filing.
  template <class Thread>
  SIMT_FN std::uint64_t take_used(Thread& thread, std::uint32_t slab, std::uint32_t id, std::uint32_t limit,
                                  std::uint64_t seen) const {
    const auto state = thread.atomic(states[slab]);
    bool looked_again = false;
    for (std::uint64_t word = seen;;) {
      const std::uint32_t old_id = SlabState::id(word);
      const bool sparse = SlabState::count(word) <= classes.thresholds(kind_of(id)).sparse;
      if (!SlabState::head(word) && SlabState::formatted(word) && kind_of(old_id) == kind_of(id) &&
          (old_id == id || sparse) && SlabState::count(word) <= limit) {
        const std::uint64_t taken = as_head(word, id);
        if (state.compare_exchange(word, taken, simt::acq_rel, simt::acquire)) return Head::of(slab, taken);
        thread.probe(simt::Step::retry);
      } else if (looked_again) {
        file(thread, slab, word);
        return Head::none;
      } else {
        word = state.load(simt::acquire);
      }
      looked_again = true;
    }
  }

  // Turns a slab that the caller removed from the free set into the head of a size. Acquire is enough, because Heads
  // publishes what is written here when it stores the new head with release.
  template <class Thread>
  SIMT_FN std::uint64_t take_free(Thread& thread, std::uint32_t slab, std::uint32_t id, std::uint64_t seen) const {
    thread.atomic(kinds[slab]).store(kind_of(id), simt::relaxed);  // no thread owns a block of the slab
    const auto state = thread.atomic(states[slab]);
    while (!state.compare_exchange(seen, as_head(seen, id), simt::acquire, simt::relaxed)) {
      thread.probe(simt::Step::retry);  // a late allocation added or subtracted
    }
    return Head::of(slab, as_head(seen, id));
  }

  // Turns a head into an ordinary slab, and files it.
  template <class Thread>
  SIMT_FN void detach(Thread& thread, std::uint32_t slab) const {
    const std::uint64_t before = thread.atomic(states[slab]).fetch_and(~SlabState::head_flag, simt::acq_rel);
    file(thread, slab, before & ~SlabState::head_flag);
  }

 private:
  static constexpr std::uint32_t no_set = 0xffffffffu;

  // Returns the index of the set in which searches find a slab with this state. Returns no_set for heads, free slabs
  // and slabs that are too full.
  SIMT_FN std::uint32_t set_index(std::uint64_t state) const {
    if (SlabState::head(state) || !SlabState::formatted(state)) return no_set;
    const std::uint32_t id = SlabState::id(state);
    const Thresholds limits = classes.thresholds(kind_of(id));
    const std::uint32_t used = SlabState::count(state);
    if (used <= limits.sparse) return sparse_index(kind_of(id));
    if (used <= limits.roomy) return roomy_index(id);
    return used <= limits.crammed ? busy_index(id) : no_set;
  }

  // Removes a slab that has left a class from the set of the class.
  template <class Thread>
  SIMT_FN void unfile(Thread& thread, std::uint32_t slab, std::uint32_t index) const {
    if (index == no_set) return;
    set(index).remove(thread, slab);
    // The removed bit may have been set when the slab returned to the class. Then this load sees the state of that time
    // or a later one, and the slab is added again if it still belongs to the class.
    if (set_index(thread.atomic(states[slab]).load(simt::acquire)) == index) set(index).add(thread, slab);
  }

  SIMT_HOST_FN static std::uint64_t block_mask(std::uint32_t chunk, std::uint32_t log) {
    return ((std::uint64_t{1} << (1u << log)) - 1) << chunk % 32;
  }
  SIMT_HOST_FN static std::uint64_t as_head(std::uint64_t word, std::uint32_t id) {
    return (word & ~SlabState::low_byte) + SlabState::era_step +
           (SlabState::head_flag | SlabState::formatted_flag | id);
  }
};

}  // namespace allocbench::halloc
