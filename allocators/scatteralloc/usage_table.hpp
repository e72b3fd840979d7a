// UsageTable is the page usage table of ScatterAlloc as published: three words per page.
//
// Steinberger et al. 2012; layout of the authors' public code, version 1.0:
// * `chunk_bytes` is 0 on an unformatted page. On every page of a run, it has the size of the whole request.
// * `count` is the number of chunks in use plus the number of lanes that try to get one. While a reset locks the page,
//   the page size in bytes is added to it.
// * `bits` marks the chunks in use of a flat page, or the segments of a two-level page that were seen full.
//
// The bits of a two-level page lie at the end of the page (page_format.hpp). They are zeroed when the heap is made or
// reset, and before a page becomes unformatted. So these bits are zero on an unformatted page.
//
// Protocol:
// * use: A thread adds 1 to the count. With page reset, it checks the chunk size again, because the page may have been
//   reset since it was chosen. If the count was below the capacity, it searches for a bit. If it gets no chunk, it
//   subtracts 1 again.
// * leave: A thread clears the bit and subtracts 1. If its free empties the page and the form resets pages, it resets
//   the page: it compare-exchanges the count from 0 to page bytes, clears the bits on the page, sets the chunk size to
//   0, and subtracts page bytes.
//
// Orders: Bits acquire when a chunk is taken and release when it is freed. Additions to the count acquire and
// subtractions release, so a user sees all resets that precede its addition.
#pragma once

#include "allocators/scatteralloc/page_format.hpp"

namespace allocbench::scatteralloc {

struct PageUsage {
  std::uint32_t chunk_bytes;
  std::uint32_t count;
  std::uint32_t bits;
};
static_assert(sizeof(PageUsage) == 12);

template <bool reset_pages>
struct UsageTable {
  static constexpr std::uint32_t no_chunk = 0xffffffffu;

  PageFormat format;
  std::uint32_t pages = 0;
  std::uint32_t mask_words = 0;  // words of bits of the two-level page with the most segments
  std::byte* base = nullptr;
  PageUsage* usage = nullptr;

  SIMT_FN std::uint32_t& segment_bits(std::uint32_t page, std::uint32_t segment) const {
    return *reinterpret_cast<std::uint32_t*>(base + ((page + std::size_t{1}) << format.page_shift) - 4 * (segment + 1));
  }

  // Takes a chunk of this page, which was seen with chunks of `chunk` bytes. Returns null if it gets no chunk, because
  // the page is full or contended, or because the chunk size is not between `least` and `most` bytes.
  template <class Thread>
  SIMT_FN std::byte* use(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t least,
                         std::uint32_t most) const {
    thread.probe(simt::Step::attempt);
    const auto count = thread.atomic(usage[page].count);
    const std::uint32_t users = count.fetch_add(1u, simt::acquire);
    if constexpr (reset_pages) chunk = thread.atomic(usage[page].chunk_bytes).load(simt::relaxed);
    if (chunk >= least && chunk <= most) {
      const std::uint32_t index =
          format.flat(chunk) ? take_flat(thread, page, chunk, users) : take_in_segments(thread, page, chunk, users);
      if (index != no_chunk) return base + (std::size_t{page} << format.page_shift) + index * chunk;
    }
    thread.probe(simt::Step::retry);
    count.fetch_sub(1u, simt::release);
    return nullptr;
  }

  // Frees a chunk. Returns the previous count.
  template <class Thread>
  SIMT_FN std::uint32_t leave(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t index) const {
    const auto bits = thread.atomic(usage[page].bits);
    if (format.flat(chunk)) {
      bits.fetch_and(~(1u << index), simt::release);
    } else {
      const std::uint32_t segment = index / 32;
      thread.atomic(segment_bits(page, segment)).fetch_and(~(1u << index % 32), simt::release);
      // The hint is cleared even if the segment was not full, because a thread may have set it after an earlier free.
      bits.fetch_and(~(1u << segment), simt::relaxed);
    }
    const std::uint32_t users = thread.atomic(usage[page].count).fetch_sub(1u, simt::release);
    if constexpr (reset_pages) {
      if (users == 1) reset(thread, page);
    }
    return users;
  }

  // Clears the bits on a page that only the caller uses.
  template <class Thread>
  SIMT_FN void clear_masks(Thread& thread, std::uint32_t page) const {
    for (std::uint32_t i = 0; i < mask_words; ++i) thread.atomic(segment_bits(page, i)).store(0u, simt::relaxed);
  }

 private:
  template <class Thread>
  SIMT_FN std::uint32_t take_flat(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t users) const {
    const std::uint32_t chunks = format.flat_chunks(chunk);
    return users < chunks ? take_bit(thread, usage[page].bits, chunks) : no_chunk;
  }

  template <class Thread>
  SIMT_FN std::uint32_t take_in_segments(Thread& thread, std::uint32_t page, std::uint32_t chunk,
                                         std::uint32_t users) const {
    const Segments segments = format.segments(chunk);
    if (users >= segments.chunks) return no_chunk;
    const auto seen_full = thread.atomic(usage[page].bits);
    std::uint32_t full = seen_full.load(simt::relaxed);
    std::uint32_t segment = thread.lane() % segments.count;
    for (std::uint32_t tries = simt::popcount(~full & low_bits(segments.count)); tries != 0; --tries) {
      segment = next_clear(full, segment, segments.count);
      if (segment == no_chunk) break;
      const std::uint32_t bit = take_bit(thread, segment_bits(page, segment), segments.chunks_of(segment));
      if (bit != no_chunk) return segment * 32 + bit;
      full = seen_full.fetch_or(1u << segment, simt::relaxed) | 1u << segment;
    }
    return no_chunk;
  }

  // Takes a clear bit. The first try is the bit with the lane's number, modulo `count`. Each further try is the next
  // clear bit to the left, with wrap-around. Returns no_chunk if all bits are set, or after 32 tries.
  template <class Thread>
  SIMT_FN std::uint32_t take_bit(Thread& thread, std::uint32_t& word, std::uint32_t count) const {
    std::uint32_t bit = thread.lane() % count;
    for (std::uint32_t tries = 0; tries < simt::warp_size && bit != no_chunk; ++tries) {
      const std::uint32_t before = thread.atomic(word).fetch_or(1u << bit, simt::acquire);
      if ((before >> bit & 1) == 0) return bit;
      bit = next_clear(before, bit, count);
    }
    return no_chunk;
  }

  // Returns a clear bit of the lowest `count` bits: the first one from bit `from` upwards, else the lowest. Returns
  // no_chunk if all are set.
  SIMT_FN static std::uint32_t next_clear(std::uint32_t word, std::uint32_t from, std::uint32_t count) {
    const std::uint32_t clear = ~word & low_bits(count);
    if (clear == 0) return no_chunk;
    const std::uint32_t left = clear & ~low_bits(from);
    return simt::count_trailing_zeros(left != 0 ? left : clear);
  }

  template <class Thread>
  SIMT_FN void reset(Thread& thread, std::uint32_t page) const {
    const auto count = thread.atomic(usage[page].count);
    std::uint32_t nobody = 0;
    if (!count.compare_exchange(nobody, format.page_bytes(), simt::acquire, simt::relaxed)) return;
    clear_masks(thread, page);
    thread.atomic(usage[page].chunk_bytes).store(0u, simt::release);
    count.fetch_sub(format.page_bytes(), simt::release);
  }
};

}  // namespace allocbench::scatteralloc
