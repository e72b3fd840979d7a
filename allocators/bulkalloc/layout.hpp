// Layout gives the sizes and places of UAlloc's chunks, of their bins, and of the slots of a bin.
//
// Paper: Gelado & Garland, PPoPP 2019 (UAlloc). A chunk is a block of the buddy tree, cut into bins of one page. A bin
// has a header of 128 bytes and slots of one size, so no block of UAlloc begins at the start of a page. For slots of up
// to 128 bytes, a tail of 128 bytes replaces the space of the header. The tails of a chunk are in its first bins, which
// have no slots of their own. The header of the chunk is in the place of the first bin's header. With pages of 4 KiB
// and chunks of 256 KiB, a chunk has two such bins and 62 others. Tails come in the order of their bins (assumed).
#pragma once

#include <algorithm>

#include "simt/simt.hpp"

namespace allocbench::bulkalloc {

inline constexpr std::uint32_t header_log2 = 7;
inline constexpr std::uint32_t header_bytes = 1u << header_log2;
inline constexpr std::uint32_t least_size_log2 = 4;  // published: 8 bytes; here every block is aligned to 16 bytes
inline constexpr std::uint32_t bitmap_words = 16;

// Bin is the header of a bin. A link is the number of a page plus 1, or 0 if there is none.
struct Bin {
  std::uint32_t bits[bitmap_words];  // set if the slot is in use or does not exist
  std::uint32_t free;                // number of unclaimed slots; the number of clear bits may be higher
  std::uint32_t list;                // number of the list, which gives arena and size
  std::uint32_t place;               // place of bin_list.hpp; like the next two members, protected by the list's lock
  std::uint32_t next;
  std::uint32_t previous;
  std::uint32_t queued;  // link of the RCU queue
};
static_assert(sizeof(Bin) <= header_bytes);

// Chunk is the header of a chunk. The lock of the arena's chunks protects all its members.
struct Chunk {
  std::uint32_t bits[bitmap_words];  // set if the bin is in use or does not exist
  std::uint32_t free;                // number of free bins
  std::uint32_t next;
  std::uint32_t previous;
};
static_assert(sizeof(Chunk) <= header_bytes);

struct Layout {
  std::byte* base = nullptr;
  std::uint32_t page_log2 = 0;
  std::uint32_t chunk_height = 0;  // log2 of the pages of a chunk

  SIMT_HOST_FN std::uint32_t chunk_pages() const { return 1u << chunk_height; }
  SIMT_HOST_FN std::uint32_t tails_of_bin() const { return (1u << (page_log2 - header_log2)) - 1; }
  // Returns how many of the first bins hold tails.
  SIMT_HOST_FN std::uint32_t special_bins() const {
    const std::uint32_t tails_log2 = page_log2 - header_log2;
    return chunk_height > tails_log2 ? 1u << (chunk_height - tails_log2) : 1;
  }
  SIMT_HOST_FN std::uint32_t bins() const { return chunk_pages() - special_bins(); }
  // Returns the number of slots of 2^size_log2 bytes in a bin.
  SIMT_HOST_FN std::uint32_t slots(std::uint32_t size_log2) const {
    return size_log2 <= header_log2 ? 1u << (page_log2 - size_log2) : ((1u << page_log2) - header_bytes) >> size_log2;
  }
  // Returns the number of UAlloc's sizes. They are the powers of two, at least 16 bytes, of which a bin has at least
  // two slots.
  SIMT_HOST_FN std::uint32_t sizes() const {
    std::uint32_t log2 = least_size_log2;
    while (slots(log2) >= 2) ++log2;
    return log2 - least_size_log2;
  }

  SIMT_HOST_FN std::byte* address(std::uint32_t page) const { return base + (std::size_t{page} << page_log2); }
  SIMT_FN Bin& bin(std::uint32_t page) const { return *reinterpret_cast<Bin*>(address(page)); }
  SIMT_FN Chunk& chunk(std::uint32_t page) const { return *reinterpret_cast<Chunk*>(address(page)); }
  SIMT_HOST_FN std::uint32_t chunk_of(std::uint32_t page) const { return page & ~(chunk_pages() - 1); }

  // Returns the address of a slot of the bin in this page.
  SIMT_FN std::byte* slot(std::uint32_t page, std::uint32_t size_log2, std::uint32_t slot) const {
    const std::uint32_t in_bin = ((1u << page_log2) - header_bytes) >> size_log2;
    if (slot < in_bin) return address(page) + header_bytes + (std::size_t{slot} << size_log2);
    const std::uint32_t tail = page - chunk_of(page) - special_bins();
    return address(chunk_of(page) + tail / tails_of_bin()) + header_bytes * (1 + tail % tails_of_bin()) +
           (std::size_t{slot - in_bin} << size_log2);
  }

  // Place is the bin of a block and the position of the block's first byte. Positions count the bytes behind the bin's
  // header first, and then those of its tail.
  struct Place {
    std::uint32_t page;
    std::uint32_t offset;
  };
  SIMT_FN Place place_of(std::size_t offset_in_pool) const {
    const auto page = static_cast<std::uint32_t>(offset_in_pool >> page_log2);
    const auto inside = static_cast<std::uint32_t>(offset_in_pool) & ((1u << page_log2) - 1);
    const std::uint32_t chunk = chunk_of(page);
    if (page - chunk >= special_bins()) return {page, inside - header_bytes};
    const std::uint32_t tail = (page - chunk) * tails_of_bin() + (inside >> header_log2) - 1;
    return {chunk + special_bins() + tail, (1u << page_log2) - header_bytes + (inside & (header_bytes - 1))};
  }
};

// Returns the position of the n-th clear bit, counted from 0. The words must have more than n clear bits.
template <class Thread>
SIMT_FN std::uint32_t nth_clear_bit(Thread& thread, std::uint32_t* words, std::uint32_t n) {
  std::uint32_t word = 0;
  SIMT_ROLLED
  for (;; ++word) {
    const std::uint32_t clear = ~thread.atomic(words[word]).load(simt::relaxed);
    const std::uint32_t count = simt::popcount(clear);
    if (n < count) return word * 32 + simt::nth_set_bit(clear, n);
    n -= count;
  }
}

// Writes the bits of a new header. The bits from `first` to `units` - 1 are clear. The others are set forever, because
// no slot, and no bin with slots, belongs to them.
template <class Thread>
SIMT_FN void clear_bits(Thread& thread, std::uint32_t* words, std::uint32_t first, std::uint32_t units) {
  SIMT_ROLLED
  for (std::uint32_t word = 0; word < bitmap_words; ++word) {
    const std::uint32_t begin = word * 32;
    const std::uint32_t below = first <= begin ? 0 : first - begin >= 32 ? 0xffffffffu : (1u << (first - begin)) - 1;
    const std::uint32_t above = units <= begin ? 0xffffffffu : units - begin >= 32 ? 0 : ~0u << (units - begin);
    thread.atomic(words[word]).store(below | above, simt::relaxed);
  }
}

}  // namespace allocbench::bulkalloc
