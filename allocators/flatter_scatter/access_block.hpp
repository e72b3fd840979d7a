// An AccessBlock of FlatterScatter has pages, followed by a table with an entry per page.
//
// Source: mallocMC 3, FlatterScatter/AccessBlock.hpp. The entry of a page has two words:
// * chunk_bytes: This word has the size of the page's chunks, or 0 for an unused page. On every page of a multi-page
//   block, it has the size of the whole request.
// * filling: This word counts the chunks in use and the threads that search the page now. On a locked page (in reset,
//   or part of a multi-page block), it is higher by the page size in bytes.
//
// Protocol:
// * enter: A thread adds 1 to the filling. If the page is not full, the thread gives an unused page the requested size.
//   If the page's chunks have a suitable size, the thread searches for a clear bit.
// * leave: A thread subtracts 1. With `reset_pages`, the last thread to leave tries to lock the page by a
//   compare-exchange from 0. If it succeeds, it clears the words that other chunk sizes use for bits, marks the page
//   unused, and unlocks it by a subtraction.
//
// The filling counts a search as long as the search lasts. So a page may look full although it has room, and malloc may
// return null although chunks are free (docs/findings.md).
//
// Memory orders (`bit_orders`): In the published form, changes of bits and fillings are relaxed. Only the unlock after
// a reset or a free of whole pages releases; the original code has a fence in the reset. So nothing orders the last
// accesses of an owner of a chunk before the first accesses of the next owner (docs/findings.md). In the fixed form,
// every addition to the filling acquires and every subtraction releases. Setting a bit acquires and clearing it
// releases, because a searcher that came in before an owner left may take that owner's chunk.
#pragma once

#include "allocators/flatter_scatter/page_layout.hpp"
#include "allocators/support/common/bit_orders.hpp"

namespace allocbench::flatter_scatter {

struct PageEntry {
  std::uint32_t chunk_bytes;
  std::uint32_t filling;
};
static_assert(sizeof(PageEntry) == 8);

struct AccessBlock {
  static constexpr std::uint32_t no_chunk = 0xffffffffu;
  static constexpr std::uint32_t most_tries = 32;  // tries for a bit in one word

  std::byte* base;
  std::uint32_t pages;
  PageLayout layout;
  bool reset_pages;
  BitOrders orders;

  SIMT_FN PageEntry& entry(std::uint32_t page) const {
    return reinterpret_cast<PageEntry*>(base + (std::size_t{pages} << layout.bytes_log2))[page];
  }
  SIMT_FN std::byte* address(std::uint32_t page) const { return base + (std::size_t{page} << layout.bytes_log2); }
  // Returns the first word of the bits of a page that has `words` such words.
  SIMT_FN std::uint32_t* bits(std::uint32_t page, std::uint32_t words) const {
    return reinterpret_cast<std::uint32_t*>(address(page + 1)) - words;
  }

  // Takes a chunk of at least `wanted` and at most `most` bytes. Returns null if each page looked full, had chunks of
  // an unsuitable size, or gave no bit in 32 tries per word.
  template <class Thread>
  SIMT_FN std::byte* take_chunk(Thread& thread, std::uint32_t hash, std::uint32_t wanted, std::uint32_t most) const {
    const std::uint32_t chunks = layout.chunks(wanted);
    std::uint32_t page = (hash >> 8) % pages;
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < pages; ++i) {
      if (++page == pages) page = 0;
      std::uint32_t size = wanted;
      const std::uint32_t chunk = enter(thread, page, hash >> 16, chunks, most, size);
      if (chunk != no_chunk) return address(page) + std::size_t{chunk} * size;
      thread.probe(simt::Step::walk);
    }
    return nullptr;
  }

  // Takes `count` neighbouring pages for one request. Returns null if it finds no such pages.
  template <class Thread>
  SIMT_FN std::byte* take_pages(Thread& thread, std::uint32_t hash, std::uint32_t wanted, std::uint32_t count) const {
    const std::uint32_t places = pages - count + 1;
    std::uint32_t first = ((hash >> 8) % pages + count) % places;
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < places; ++i) {
      if (lock_pages(thread, first, count)) {
        for (std::uint32_t page = first; page != first + count; ++page) {
          thread.atomic(entry(page).chunk_bytes).exchange(wanted, simt::relaxed);
        }
        return address(first);
      }
      thread.probe(simt::Step::walk);
      if (++first == places) first = 0;
    }
    return nullptr;
  }

  // Frees a block. `inside` is its offset in the page.
  template <class Thread>
  SIMT_FN void give(Thread& thread, std::uint32_t page, std::uint32_t inside) const {
    const std::uint32_t size = thread.atomic(entry(page).chunk_bytes).load(simt::relaxed);
    if (size >= layout.multi_page_from()) return give_pages(thread, page, size);
    if (size == 0) return;  // no block is on this page; the division below would fault on a CPU
    const std::uint32_t chunk = inside / size;
    const std::uint32_t words = PageLayout::words(layout.chunks(size));
    const auto word = thread.atomic(bits(page, words)[chunk / 32]);
    orders.clearing([&](auto order) { return word.fetch_and(~(1u << chunk % 32), order); });
    leave(thread, page);
  }

 private:
  // Enters the page and takes a chunk. Sets `size` to the size of the page's chunks. If it gets no chunk, it leaves the
  // page again and returns no_chunk.
  template <class Thread>
  SIMT_FN std::uint32_t enter(Thread& thread, std::uint32_t page, std::uint32_t place, std::uint32_t chunks,
                              std::uint32_t most, std::uint32_t& size) const {
    PageEntry& state = entry(page);
    thread.probe(simt::Step::attempt);
    const auto filling = thread.atomic(state.filling);
    const std::uint32_t inside = orders.setting([&](auto order) { return filling.fetch_add(1u, order); });
    if (inside < chunks) {
      std::uint32_t found = 0;
      bool fits = thread.atomic(state.chunk_bytes).compare_exchange(found, size, simt::relaxed, simt::relaxed);
      if (!fits && found >= size && found <= most && found < layout.multi_page_from()) {
        size = found;
        chunks = layout.chunks(size);
        fits = inside < chunks;
      }
      if (fits) {
        const std::uint32_t chunk = take_bit(thread, page, chunks, place);
        if (chunk != no_chunk) return chunk;
      }
    }
    thread.probe(simt::Step::retry);
    leave(thread, page);
    return no_chunk;
  }

  // Searches all words of the page in turn. `place` selects the first. In each word, it tries the lane's own bit first,
  // then the lowest clear bit.
  template <class Thread>
  SIMT_FN std::uint32_t take_bit(Thread& thread, std::uint32_t page, std::uint32_t chunks, std::uint32_t place) const {
    const std::uint32_t words = PageLayout::words(chunks);
    std::uint32_t word = place % words;
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < words; ++i) {
      const std::uint32_t valid = chunks - word * 32 < 32 ? chunks - word * 32 : 32;
      const auto bits_of_word = thread.atomic(bits(page, words)[word]);
      std::uint32_t bit = thread.lane() % valid;
      for (std::uint32_t tries = 0; tries < most_tries && bit < valid; ++tries) {
        const std::uint32_t before =
            orders.setting([&](auto order) { return bits_of_word.fetch_or(1u << bit, order); });
        if ((before >> bit & 1) == 0) return word * 32 + bit;
        bit = simt::count_trailing_zeros(~before);
      }
      if (++word == words) word = 0;
    }
    return no_chunk;
  }

  template <class Thread>
  SIMT_FN void leave(Thread& thread, std::uint32_t page) const {
    const auto filling = thread.atomic(entry(page).filling);
    if (orders.clearing([&](auto order) { return filling.fetch_sub(1u, order); }) != 1 || !reset_pages) return;
    if (!lock(filling)) return;
    const auto chunk_bytes = thread.atomic(entry(page).chunk_bytes);
    std::uint32_t size = chunk_bytes.load(simt::relaxed);
    if (size != 0) {
      // The bits of this chunk size are clear. In front of them there may be user data, where smaller chunks have bits.
      clear_words(thread, page, layout.most_words() - PageLayout::words(layout.chunks(size)));
      chunk_bytes.compare_exchange(size, 0u, simt::relaxed, simt::relaxed);
    }
    filling.fetch_sub(layout.bytes(), simt::release);
  }

  // Clears the first `count` of the words of bits that the smallest chunks need.
  template <class Thread>
  SIMT_FN void clear_words(Thread& thread, std::uint32_t page, std::uint32_t count) const {
    std::uint32_t* const words = bits(page, layout.most_words());
    for (std::uint32_t i = 0; i < count; ++i) thread.atomic(words[i]).store(0u, simt::relaxed);
  }

  // Locks a page. Returns false if the page has a chunk in use, a searching thread or a lock.
  template <class Filling>
  SIMT_FN bool lock(const Filling& filling) const {
    return orders.setting([&](auto order) {
      std::uint32_t nobody = 0;
      return filling.compare_exchange(nobody, layout.bytes(), order, simt::relaxed);
    });
  }

  // Locks `count` pages from `first` on. Returns false and locks none if one of them cannot be locked.
  template <class Thread>
  SIMT_FN bool lock_pages(Thread& thread, std::uint32_t first, std::uint32_t count) const {
    thread.probe(simt::Step::attempt);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (lock(thread.atomic(entry(first + i).filling))) continue;
      thread.probe(simt::Step::retry);
      while (i-- != 0) {
        const auto filling = thread.atomic(entry(first + i).filling);
        orders.clearing([&](auto order) { return filling.fetch_sub(layout.bytes(), order); });
      }
      return false;
    }
    return true;
  }

  template <class Thread>
  SIMT_FN void give_pages(Thread& thread, std::uint32_t first, std::uint32_t size) const {
    const std::uint32_t end = first + ((size - 1) >> layout.bytes_log2) + 1;
    for (std::uint32_t page = first; page != end; ++page) {
      clear_words(thread, page, layout.most_words());
      std::uint32_t owned = size;
      thread.atomic(entry(page).chunk_bytes).compare_exchange(owned, 0u, simt::relaxed, simt::relaxed);
      thread.atomic(entry(page).filling).fetch_sub(layout.bytes(), simt::release);
    }
  }
};

}  // namespace allocbench::flatter_scatter
