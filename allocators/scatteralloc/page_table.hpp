// PageTable is the page table of the reworked ScatterAlloc. A page's entry has its chunk size and its chunks in use.
//
// An entry is one 64-bit word, so that every decision about a page is one atomic operation:
// * Bits 52-63 have the chunk size in units of 2^PageFormat::unit_shift bytes, or 0 for an unformatted page. Three
//   marks are above the largest size.
// * Bits 32-51 count the reservations of a two-level page. They can count all threads of a GPU. On a flat page they are
//   0 except during a claim.
// * Bits 0-31 mark the chunks in use of a flat page. On a two-level page they are 0 except during a claim.
//
// Protocol: A claim changes the entry first and then checks the old value.
// * flat: A thread ORs the wanted bits. It owns a bit that it sets if the page has a suitable flat format, or if the
//   thread gives the page this format.
// * two-level: A thread adds the wanted number. Up to the capacity of the page, it owns this many bits on the page. The
//   thread looks for these bits afterwards. Until then, the count keeps the page in its format.
// * withdraw: A claim that finds an unsuitable page takes back exactly its own changes. So a bit is cleared only by the
//   thread that set it or by the owner of the chunk, and a count is lowered only by the thread that raised it or for an
//   owner's free.
// * format: A claim that holds a bit or a count changes only the chunk size, by a compare-exchange. Bits and counts of
//   other threads stay. A two-level page first gets the mark `formatting`, and then its bits are zeroed. Two-level
//   claims of other threads wait until this is done. Flat claims withdraw.
// * free: On a flat page, a thread clears the bit in the entry. On a two-level page, it clears the bit on the page and
//   then lowers the count.
// * reset (with `reset_pages`): A thread that leaves a formatted page without bits and counts makes it unformatted,
//   even if it only withdraws a claim. Its compare-exchange to 0 fails while the word has a bit or count of another
//   thread. A compare-exchange from 0 claims a page for a run.
//
// Orders: Freeing operations release, and claiming operations acquire. All writes to an entry are read-modify-writes of
// one release sequence. So a claim sees everything that earlier owners did to the page, in any format.
//
// ABA: The word holds the whole state, so a compare-exchange that finds the old value again is correct.
#pragma once

#include "allocators/scatteralloc/page_format.hpp"

namespace allocbench::scatteralloc {

inline constexpr std::uint32_t no_page = 0xffffffffu;

// Entry names the fields of a table entry.
struct Entry {
  static constexpr std::uint32_t unformatted = 0;
  static constexpr std::uint32_t largest_units = 2048;
  static constexpr std::uint32_t run_rest = 0xffd;    // page of a multi-page block that is not its first page
  static constexpr std::uint32_t run_first = 0xffe;   // first page of a multi-page block
  static constexpr std::uint32_t formatting = 0xfff;  // two-level page whose bits are not yet zero
  static constexpr std::uint64_t one_count = std::uint64_t{1} << 32;

  SIMT_HOST_FN static std::uint32_t units(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 52); }
  SIMT_HOST_FN static std::uint32_t count(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32) & 0xfffff;
  }
  SIMT_HOST_FN static std::uint32_t bits(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  SIMT_HOST_FN static std::uint64_t of_units(std::uint32_t units) { return std::uint64_t{units} << 52; }
  SIMT_HOST_FN static bool holds_chunks(std::uint64_t word) {
    return units(word) - 1 < largest_units;  // the size is neither 0 nor a mark
  }
};

// Claim is the result of claim(). `chunk` is the chunk size of the page, or 0 if nothing was claimed. On a flat page,
// `bits_or_count` has the claimed bits. On a two-level page, its lower 16 bits are the number of claimed chunks, and
// the upper 16 bits the number of chunks reserved before.
struct Claim {
  std::uint32_t chunk;
  std::uint32_t bits_or_count;
};

template <bool reset_pages>
struct PageTable {
  static constexpr std::uint32_t no_chunk = 0xffffffffu;

  PageFormat format;
  std::uint32_t waste_factor = 2;
  std::uint32_t pages = 0;
  std::byte* base = nullptr;
  std::uint64_t* entries = nullptr;
  std::uint32_t* full_segments = nullptr;  // one bit per segment of a two-level page that was seen full; only hints

  SIMT_FN std::byte* chunk_address(std::uint32_t page, std::uint32_t chunk, std::uint32_t index) const {
    return base + (std::size_t{page} << format.page_shift) + index * chunk;
  }
  SIMT_FN std::uint32_t& segment_bits(std::uint32_t page, std::uint32_t segment) const {
    return *reinterpret_cast<std::uint32_t*>(base + (std::size_t{page + std::size_t{1}} << format.page_shift) -
                                             4 * (segment + 1));
  }
  SIMT_FN std::uint32_t chunk_of(std::uint64_t word) const { return Entry::units(word) << format.unit_shift; }

  // Returns whether a request of this chunk size may use a page with this entry. The chunks of the page must have at
  // least this size, and at most `waste_factor` times this size.
  SIMT_FN bool acceptable(std::uint64_t word, std::uint32_t chunk) const {
    const std::uint32_t found = chunk_of(word);
    return Entry::holds_chunks(word) && found >= chunk && found <= std::uint64_t{chunk} * waste_factor;
  }

  // Returns whether claim() could succeed with this entry.
  SIMT_FN bool has_room(std::uint64_t word, std::uint32_t chunk) const {
    if (Entry::units(word) == Entry::unformatted) return true;
    if (!acceptable(word, chunk)) return false;
    const std::uint32_t found = chunk_of(word);
    if (format.flat(found)) return (~Entry::bits(word) & low_bits(format.flat_chunks(found))) != 0;
    return Entry::count(word) < format.segments(found).chunks;
  }

  // Tries to take up to `want` (1-32) chunks of one page. Without `look` it claims immediately, as if the page were
  // unformatted or had this chunk size. If the page has this chunk size, the claim costs one trip to memory. Warps that
  // share a flat page then usually begin at different bits.
  template <class Thread>
  SIMT_FN Claim claim(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t want, bool look) const {
    bool flat = format.flat(chunk);
    std::uint32_t bits = 0;
    if (look) {
      const std::uint64_t word = thread.atomic(entries[page]).load(simt::relaxed);
      if (!has_room(word, chunk)) return {0, 0};
      const std::uint32_t found = Entry::units(word) == Entry::unformatted ? chunk : chunk_of(word);
      flat = format.flat(found);
      if (flat) bits = lowest_bits(~Entry::bits(word) & low_bits(format.flat_chunks(found)), want);
    } else if (flat) {
      bits = first_bits(thread, format.flat_chunks(chunk), want);
    }
    return flat ? claim_bits(thread, page, chunk, bits) : claim_count(thread, page, chunk, want);
  }

  // Takes a clear bit on a two-level page for one reserved chunk. It begins with chunk `first`, the number of chunks
  // reserved before. On a page that is filled in order, this chunk is free. Returns no_chunk after two rounds over all
  // segments, of which the second ignores the hints. The reservation is then still held.
  template <class Thread>
  SIMT_FN std::uint32_t take_bit(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t first) const {
    const Segments segments = format.segments(chunk);
    const auto hints = thread.atomic(full_segments[page]);
    const std::uint32_t full = hints.load(simt::relaxed);
    std::uint32_t segment = first / 32;
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < 2 * segments.count; ++i) {
      const bool trust_hints = i < segments.count;
      if (!trust_hints || (full >> segment & 1) == 0) {
        const std::uint32_t usable = low_bits(segments.chunks_of(segment));
        const auto word = thread.atomic(segment_bits(page, segment));
        std::uint32_t bit = (usable >> first % 32 & 1) != 0 ? 1u << first % 32 : 1u;
        SIMT_ROLLED
        for (std::uint32_t tries = 0; tries < 32; ++tries) {
          thread.probe(simt::Step::attempt);
          const std::uint32_t before = word.fetch_or(bit, simt::acquire);
          if ((before & bit) == 0) return segment * 32 + simt::count_trailing_zeros(bit);
          const std::uint32_t free = ~before & usable;
          if (free == 0) {
            if (trust_hints) hints.fetch_or(1u << segment, simt::relaxed);
            break;
          }
          // This is the next clear bit to the left, cyclically. (If bit << 1 leaves the word, none is to the left.)
          const std::uint32_t left = free & (0u - (bit << 1));
          const std::uint32_t from = left != 0 ? left : free;
          bit = from & (0u - from);
        }
      }
      segment = segment + 1 == segments.count ? 0 : segment + 1;
    }
    return no_chunk;
  }

  // Clears the bit of a chunk of a two-level page. release_count() lowers the count.
  template <class Thread>
  SIMT_FN void clear_bit(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t index) const {
    const std::uint32_t segment = index / 32;
    const std::uint32_t before =
        thread.atomic(segment_bits(page, segment)).fetch_and(~(1u << index % 32), simt::release);
    // A thread that saw the segment full may set the hint afterwards. A stale hint costs time, but no chunk is lost.
    if (simt::popcount(before) == format.segments(chunk).chunks_of(segment)) {
      thread.atomic(full_segments[page]).fetch_and(~(1u << segment), simt::relaxed);
    }
  }

  // Clears bits of the page. Like release_count(), it resets an empty formatted page (with `reset_pages`), and returns
  // the previous entry.
  template <class Thread>
  SIMT_FN std::uint64_t release_bits(Thread& thread, std::uint32_t page, std::uint32_t bits) const {
    const std::uint64_t before = thread.atomic(entries[page]).fetch_and(~std::uint64_t{bits}, simt::release);
    reset_if_empty(thread, page, before & ~std::uint64_t{bits});
    return before;
  }
  template <class Thread>
  SIMT_FN std::uint64_t release_count(Thread& thread, std::uint32_t page, std::uint32_t count) const {
    const std::uint64_t before = thread.atomic(entries[page]).fetch_sub(count * Entry::one_count, simt::release);
    reset_if_empty(thread, page, before - count * Entry::one_count);
    return before;
  }

 private:
  // Returns up to `want` neighbouring bits of the lowest `chunks` bits, with wrap-around.
  template <class Thread>
  SIMT_FN static std::uint32_t first_bits(Thread& thread, std::uint32_t chunks, std::uint32_t want) {
    if (want >= chunks) return low_bits(chunks);
    const std::uint32_t warp = thread.block() * 32 + thread.warp_in_block();
    const std::uint32_t first = simt::multiply_high(warp * 0x9e3779b1u, chunks);
    const std::uint32_t ones = low_bits(want);
    return (ones << first | ones >> ((chunks - first) & 31)) & low_bits(chunks);
  }

  SIMT_FN static std::uint32_t lowest_bits(std::uint32_t free, std::uint32_t want) {
    // Fresh pages need no loop, because their lowest bits are free.
    if ((low_bits(want) & ~free) == 0) return low_bits(want);
    std::uint32_t bits = 0;
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < want && free != 0; ++i) {
      bits |= free & (0u - free);
      free &= free - 1;
    }
    return bits;
  }

  template <class Thread>
  SIMT_FN Claim claim_bits(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t bits) const {
    thread.probe(simt::Step::attempt);
    const auto entry = thread.atomic(entries[page]);
    std::uint64_t word = entry.fetch_or(bits, simt::acquire);
    const std::uint32_t mine = bits & ~Entry::bits(word);
    if (mine == 0) return {0, 0};  // without a bit of its own, the thread must not format the page
    word |= bits;
    const std::uint64_t format_bits = Entry::of_units(chunk >> format.unit_shift);
    SIMT_ROLLED
    while (Entry::units(word) == Entry::unformatted) {
      if (entry.compare_exchange(word, word | format_bits, simt::relaxed, simt::relaxed)) word |= format_bits;
    }
    const std::uint32_t found = chunk_of(word);
    const bool usable = acceptable(word, chunk) && format.flat(found);
    const std::uint32_t granted = usable ? mine & low_bits(format.flat_chunks(found)) : 0;
    if (granted != mine) {
      thread.probe(simt::Step::retry);
      release_bits(thread, page, mine & ~granted);
    }
    return {granted != 0 ? found : 0, granted};
  }

  template <class Thread>
  SIMT_FN Claim claim_count(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t want) const {
    const auto entry = thread.atomic(entries[page]);
    std::uint64_t word = entry.fetch_add(want * Entry::one_count, simt::acquire);
    const std::uint32_t reserved_before = Entry::count(word);
    word += want * Entry::one_count;
    const std::uint32_t units = chunk >> format.unit_shift;
    SIMT_ROLLED
    while (Entry::units(word) == Entry::unformatted) {
      if (!entry.compare_exchange(word, word | Entry::of_units(Entry::formatting), simt::relaxed, simt::relaxed)) {
        continue;
      }
      const std::uint32_t segments = format.segments(chunk).count;
      SIMT_ROLLED
      for (std::uint32_t i = 0; i < segments; ++i) thread.atomic(segment_bits(page, i)).store(0u, simt::relaxed);
      thread.atomic(full_segments[page]).store(0u, simt::relaxed);
      entry.fetch_sub(Entry::of_units(Entry::formatting - units), simt::release);
      word = Entry::of_units(units);
    }
    SIMT_ROLLED
    while (Entry::units(word) == Entry::formatting) {  // the wait ends, because the formatting thread never waits
      thread.spin_hint();
      word = entry.load(simt::acquire);
    }
    const std::uint32_t found = chunk_of(word);
    std::uint32_t granted = 0;
    if (acceptable(word, chunk) && !format.flat(found)) {
      const std::uint32_t chunks = format.segments(found).chunks;
      const std::uint32_t room = reserved_before < chunks ? chunks - reserved_before : 0;
      granted = want < room ? want : room;
    }
    if (granted != want) {
      thread.probe(simt::Step::retry);
      release_count(thread, page, want - granted);
    }
    return {granted != 0 ? found : 0, granted | reserved_before << 16};
  }

  // With `reset_pages`, makes the page unformatted if it is empty and has a chunk size. `word` is the entry that the
  // caller's own operation left. The exchange may fail: the thread that changed the word is then a new owner, or it
  // withdraws and calls this function, too. Relaxed is enough, because the release sequence of the entry continues.
  template <class Thread>
  SIMT_FN void reset_if_empty(Thread& thread, std::uint32_t page, std::uint64_t word) const {
    if constexpr (reset_pages) {
      if (!Entry::holds_chunks(word) || word << 12 != 0) return;
      thread.atomic(entries[page]).compare_exchange(word, 0, simt::relaxed, simt::relaxed);
    }
  }
};

}  // namespace allocbench::scatteralloc
