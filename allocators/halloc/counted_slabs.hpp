// CountedSlabs holds the slabs of Halloc as published. Each slab has a counter word, a descriptor, a lock, and bits and
// lengths of blocks. CountedSlabs also holds the sets in which searches find slabs.
//
// Adinetz & Pleiter 2014; layout of the authors' public code 0.11.
// * Bits 12-31 of the counter are the number of chunks in use, bit 8 marks a head, bits 5-7 are the kind of chunk (7
//   for a free slab), and bits 0-4 are the number of the size.
// * A slab has one bit per chunk. A block is 1, 2, 4 or 8 chunks, whose bits are in one word.
// * Lengths have 4 bits per chunk. The length of a block is written at its first chunk.
// * One set has the free slabs. Each kind has a set of sparse slabs, and each size has sets of roomy and busy slabs
//   (slab_bitmap.hpp).
//
// Protocol: The low bits of the counter change only under the lock of the slab. The count in the upper bits changes
// with every block. A thread that won its bits adds to the count. If the old word has another kind, the slab was
// freed in between, and the thread undoes both changes. If a free lowers the count of a slab across a threshold and the
// slab is not a head, the free moves the slab to another set. If the count is now zero, the free tries to free the slab
// instead.
//
// Orders: Bits acquire when a block is taken and release when it is freed. Frees release the count, and the lane that
// frees the slab acquires it. The set of free slabs and the head then order the next use of the slab after these
// operations.
#pragma once

#include "allocators/halloc/size_classes.hpp"
#include "allocators/halloc/slab_bitmap.hpp"
#include "allocators/support/common/lock.hpp"

namespace allocbench::halloc {

struct SlabCounter {
  static constexpr std::uint32_t one_chunk = 1u << 12;
  static constexpr std::uint32_t head_flag = 1u << 8;
  static constexpr std::uint32_t no_kind = 7;
  static constexpr std::uint32_t low_bits = one_chunk - 1;

  SIMT_HOST_FN static std::uint32_t chunks(std::uint32_t word) { return word >> 12; }
  SIMT_HOST_FN static bool head(std::uint32_t word) { return (word & head_flag) != 0; }
  SIMT_HOST_FN static std::uint32_t kind(std::uint32_t word) { return word >> 5 & 7; }
  SIMT_HOST_FN static std::uint32_t id(std::uint32_t word) { return word & 31; }
  SIMT_HOST_FN static std::uint32_t of(std::uint32_t kind, std::uint32_t id) { return kind << 5 | id; }
};

struct SlabDescriptor {
  std::uint32_t id;
  std::uint32_t head;
  std::uint32_t kind;
  std::uint32_t chunk_bytes;
  std::uint64_t base;
};
static_assert(sizeof(SlabDescriptor) == 24);

struct CountedSlabs {
  SizeClasses classes;
  std::byte* base = nullptr;
  std::uint32_t count = 0;
  std::uint32_t shift = 22;           // log2 of the bytes of a slab
  std::uint32_t* counters = nullptr;  // one counter per slab
  SlabDescriptor* slabs = nullptr;
  std::uint32_t* locks = nullptr;      // one lock per slab
  std::uint32_t* bits = nullptr;       // slab bytes / 512 words of bits per slab
  std::uint32_t* lengths = nullptr;    // slab bytes / 128 words of lengths per slab
  std::uint32_t* set_words = nullptr;  // free set, sparse sets per kind, roomy sets per size, busy sets per size

  static constexpr std::uint32_t set_count = 1 + kind_count + 2 * size_count;
  SIMT_HOST_FN std::uint32_t words_per_set() const { return (count + 31) / 32; }
  SIMT_HOST_FN SlabBitmap set(std::uint32_t index) const {
    return {set_words + index * words_per_set(), words_per_set()};
  }
  SIMT_HOST_FN SlabBitmap free_set() const { return set(0); }
  SIMT_HOST_FN SlabBitmap sparse_set(std::uint32_t kind) const { return set(1 + kind); }
  SIMT_HOST_FN SlabBitmap roomy_set(std::uint32_t id) const { return set(1 + kind_count + id); }
  SIMT_HOST_FN SlabBitmap busy_set(std::uint32_t id) const { return set(1 + kind_count + size_count + id); }

  SIMT_HOST_FN std::size_t bit_word(std::uint32_t slab, std::uint32_t chunk) const {
    return (std::size_t{slab} << (shift - 9)) + chunk / 32;
  }
  SIMT_HOST_FN std::size_t length_word(std::uint32_t slab, std::uint32_t chunk) const {
    return (std::size_t{slab} << (shift - 7)) + chunk / 8;
  }
  SIMT_FN std::byte* address(std::uint32_t slab, std::uint32_t kind, std::uint32_t chunk) const {
    return base + (std::size_t{slab} << shift) + offset_of_chunk(kind, chunk);
  }

  // Returns how many chunks of the slab are in use.
  template <class Thread>
  SIMT_FN std::uint32_t used(Thread& thread, std::uint32_t slab) const {
    return SlabCounter::chunks(thread.atomic(counters[slab]).load(simt::relaxed));
  }

  // Sets all bits of the block of 2^log chunks at `chunk`. Returns false and sets none if one of them is already set.
  template <class Thread>
  SIMT_FN bool set_bits(Thread& thread, std::uint32_t slab, std::uint32_t chunk, std::uint32_t log) const {
    thread.probe(simt::Step::attempt);
    const auto word = thread.atomic(bits[bit_word(slab, chunk)]);
    const std::uint32_t mask = block_mask(chunk, log);
    const std::uint32_t taken = word.fetch_or(mask, simt::acquire) & mask;
    if (taken == 0) return true;
    if (taken != mask) word.fetch_and(~(mask & ~taken), simt::relaxed);  // no thread saw these bits as a block
    return false;
  }
  // Clears the bits of a freed block or of a failed allocation.
  template <class Thread>
  SIMT_FN void clear_bits(Thread& thread, std::uint32_t slab, std::uint32_t chunk, std::uint32_t mask) const {
    thread.atomic(bits[bit_word(slab, chunk)]).fetch_and(~(mask << chunk % 32), simt::release);
  }

  template <class Thread>
  SIMT_FN void write_length(Thread& thread, std::uint32_t slab, std::uint32_t chunk, std::uint32_t log) const {
    thread.atomic(lengths[length_word(slab, chunk)]).fetch_or(1u << log << chunk % 8 * 4, simt::relaxed);
  }
  // Reads and clears the length of a block.
  template <class Thread>
  SIMT_FN std::uint32_t take_length(Thread& thread, std::uint32_t slab, std::uint32_t chunk) const {
    const std::uint32_t shift_in_word = chunk % 8 * 4;
    const auto word = thread.atomic(lengths[length_word(slab, chunk)]);
    return word.fetch_and(~(15u << shift_in_word), simt::relaxed) >> shift_in_word & 15;
  }

  // Lowers the count of a slab. If the slab is not a head and its count crosses a threshold, moves or frees the slab.
  template <class Thread>
  SIMT_FN void subtract(Thread& thread, std::uint32_t slab, std::uint32_t chunks) const {
    const std::uint32_t before =
        thread.atomic(counters[slab]).fetch_sub(chunks * SlabCounter::one_chunk, simt::release);
    if (SlabCounter::head(before) || SlabCounter::kind(before) == SlabCounter::no_kind) return;
    const std::uint32_t id = SlabCounter::id(before);
    const Thresholds limits = classes.thresholds(kind_of(id));
    const std::uint32_t old_count = SlabCounter::chunks(before);
    const std::uint32_t new_count = old_count - chunks;
    const auto crossed = [&](std::uint32_t limit) { return old_count > limit && new_count <= limit; };
    if (new_count == 0) {
      try_free(thread, slab);
    } else if (crossed(limits.sparse)) {
      move(thread, slab, roomy_set(id), sparse_set(kind_of(id)));
    } else if (crossed(limits.roomy)) {
      move(thread, slab, busy_set(id), roomy_set(id));
    } else if (crossed(limits.busy)) {
      busy_set(id).add(thread, slab);
    }
  }

  // Turns a slab that was removed from a set into a head of this size. Returns false if the slab is a head already or
  // has more than `limit` chunks in use, or if `right` does not hold for its counter word.
  template <class Thread, class Right>
  SIMT_FN bool take(Thread& thread, std::uint32_t slab, std::uint32_t id, std::uint32_t limit, Right right) const {
    lock(thread, slab);
    const auto counter = thread.atomic(counters[slab]);
    const std::uint32_t word = counter.load(simt::acquire);
    const bool taken = !SlabCounter::head(word) && right(word) && SlabCounter::chunks(word) <= limit;
    if (taken) {
      const std::uint32_t low = SlabCounter::of(kind_of(id), id) | SlabCounter::head_flag;
      describe(thread, slab, id);
      counter.fetch_add(low - (word & SlabCounter::low_bits), simt::relaxed);
    }
    unlock(thread, locks[slab]);
    return taken;
  }

  // Turns a head into an ordinary slab, and adds it to a set or frees it.
  template <class Thread>
  SIMT_FN void detach(Thread& thread, std::uint32_t slab) const {
    lock(thread, slab);
    thread.atomic(slabs[slab].head).store(0u, simt::relaxed);
    const std::uint32_t word = thread.atomic(counters[slab]).fetch_and(~SlabCounter::head_flag, simt::acq_rel);
    unlock(thread, locks[slab]);
    const std::uint32_t id = SlabCounter::id(word);
    const Thresholds limits = classes.thresholds(kind_of(id));
    const std::uint32_t in_use = SlabCounter::chunks(word);
    if (in_use == 0) {
      try_free(thread, slab);
    } else if (in_use <= limits.sparse) {
      sparse_set(kind_of(id)).add(thread, slab);
    } else if (in_use <= limits.roomy) {
      roomy_set(id).add(thread, slab);
    } else {
      busy_set(id).add(thread, slab);
    }
  }

 private:
  template <class Thread>
  SIMT_FN void lock(Thread& thread, std::uint32_t slab) const {
    while (!try_lock(thread, locks[slab])) thread.spin_hint();
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread, std::uint32_t& word) const {
    allocbench::unlock(thread, word);
  }

  template <class Thread>
  SIMT_FN void describe(Thread& thread, std::uint32_t slab, std::uint32_t id) const {
    thread.atomic(slabs[slab].id).store(id, simt::relaxed);
    thread.atomic(slabs[slab].head).store(1u, simt::relaxed);
    thread.atomic(slabs[slab].kind).store(kind_of(id), simt::relaxed);
    thread.atomic(slabs[slab].chunk_bytes).store(chunk_bytes(kind_of(id)), simt::relaxed);
  }

  // Moves a slab to another set. The slab is added first, so that it is always in a set. It is added again at the end,
  // in case another thread removed it from the new set meanwhile.
  template <class Thread>
  SIMT_FN void move(Thread& thread, std::uint32_t slab, const SlabBitmap& from, const SlabBitmap& to) const {
    to.add(thread, slab);
    from.remove(thread, slab);
    to.add(thread, slab);
  }

  // Frees the slab if no block is in use. Sets the kind to no_kind first, so an allocation that adds to the count later
  // withdraws. If an allocation has added to the count before, the slab gets its kind back.
  template <class Thread>
  SIMT_FN void try_free(Thread& thread, std::uint32_t slab) const {
    lock(thread, slab);
    const auto counter = thread.atomic(counters[slab]);
    const std::uint32_t word = counter.load(simt::relaxed);
    const std::uint32_t kind = SlabCounter::kind(word);
    if (!SlabCounter::head(word) && kind != SlabCounter::no_kind) {
      const std::uint32_t before = counter.fetch_or(SlabCounter::no_kind << 5, simt::acq_rel);
      if (SlabCounter::chunks(before) == 0) {
        thread.atomic(slabs[slab].kind).store(SlabCounter::no_kind, simt::relaxed);
        free_set().add(thread, slab);
      } else {
        counter.fetch_and(~((SlabCounter::no_kind ^ kind) << 5), simt::relaxed);
      }
    }
    unlock(thread, locks[slab]);
  }

  SIMT_HOST_FN static std::uint32_t block_mask(std::uint32_t chunk, std::uint32_t log) {
    return ((1u << (1u << log)) - 1) << chunk % 32;
  }
};

}  // namespace allocbench::halloc
