// FlatterScatter is the allocator of mallocMC 3: ScatterAlloc's hash over pages of 128 KiB with flat bitfields.
//
// Code: alpaka-group/mallocMC, creationPolicies/FlatterScatter.hpp (85bf2e5, J. J. Lenz and R. Widera, 2024-25).
// PIConGPU ships it. We know of no paper.
//
// Idea: FlatterScatter has neither regions nor two-level bitmaps, unlike ScatterAlloc. Every lane works for itself.
// * malloc: A hash of size, SM and warp selects an access block and a page. A lane enters one page after the other by
//   one addition each, and gives an unused page the requested size. Then it looks for a clear bit, beginning at the bit
//   of its lane number.
// * malloc of at least (page_bytes - 4) / 2 bytes: The lane locks neighbouring pages, one after the other.
// * free of a chunk: The lane clears the bit and leaves the page. With `reset_pages` (the default), the last lane to
//   leave marks the page unused.
//
// Data: access_block.hpp and page_layout.hpp describe the pool. One word moves the access block where searches begin.
//
// Differs from the code:
// * A search for a bit ends after 32 tries per word.
// * A pool smaller than an access block is one smaller access block. In mallocMC, pools are multiples of 128 MiB.
// * Assumed: A search for neighbouring pages tries every place once, beginning at the hashed place.
//
// As published: Lanes of a warp share no operation. By default, searches begin in one of four access blocks. With one
// size below 4 KiB, the lanes of an SM begin at one page of these blocks, or at two neighbouring pages, and contend for
// their words. Searches visit the full pages of one block before they continue with the next (docs/findings.md). A page
// that is emptied repeatedly is reset repeatedly, and each reset clears up to 1,012 bytes. Changes of bits and fillings
// are relaxed (`bit_orders`).
#pragma once

#include <algorithm>
#include <string>

#include "allocators/flatter_scatter/access_block.hpp"
#include "allocators/flatter_scatter/inspect.hpp"
#include "allocators/flatter_scatter/parameters.hpp"
#include "allocators/scatteralloc/hash.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {
namespace flatter_scatter {

struct Heap {
  std::byte* base = nullptr;
  // The hash selects one of `stride` access blocks. A search begins `*first_block` strides behind this block. Any value
  // is correct, because a search visits all access blocks.
  std::uint32_t* first_block = nullptr;
  std::uint32_t blocks = 0;
  std::uint32_t block_shift = 63;  // log2 of the bytes of an access block; 63 if there is only one
  std::uint32_t pages = 0;         // number of pages of each access block
  std::uint32_t stride = 4;
  std::uint32_t waste_factor = 2;
  PageLayout layout;
  bool reset_pages = true;
  BitOrders orders;

  SIMT_HOST_FN AccessBlock block(std::uint32_t index) const {
    return {base + (std::size_t{index} << block_shift), pages, layout, reset_pages, orders};
  }
};

// Makes all pages unused, with clear bits.
struct PreparePages {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Heap heap) const {
    const std::uint32_t words = heap.layout.most_words();
    const std::uint64_t count = std::uint64_t{heap.pages} * heap.blocks * words;
    for (std::uint64_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) {
      const auto page = static_cast<std::uint32_t>(i / words);
      const AccessBlock block = heap.block(page / heap.pages);
      block.bits(page % heap.pages, words)[i % words] = 0;
      if (i % words == 0) block.entry(page % heap.pages) = {0, 0};
    }
  }
};

}  // namespace flatter_scatter

class FlatterScatter {
 public:
  using Parameters = flatter_scatter::Parameters;
  static constexpr Traits traits{.name = "flatter_scatter",
                                 .display_name = "FlatterScatter",
                                 .paper = "mallocMC 3 (2024), creationPolicies/FlatterScatter.hpp",
                                 .summary =
                                     "pages of 128 KiB found by a hash of size, SM and warp, a flat bitfield per page; "
                                     "every lane works for itself",
                                 .form = Form::published,
                                 .zero = ZeroBytes::null};

  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return pages_of(pool_bytes, parameters) * parameters.page_bytes;
  }
  // The pool has two access blocks of three pages, and a page has 15 chunks of 16 bytes. If a failed search for
  // neighbouring pages locks a page while its last chunk is freed, the page keeps its size. The next search for another
  // size resets the page and continues elsewhere.
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 2 * 1024,
            .parameters = {.access_block_bytes = 1024, .page_bytes = 256},
            .serves_other_sizes = 0.8};
  }

  static FlatterScatter create(Arena& arena, const Parameters& parameters) {
    const std::uint64_t pages = pages_of(arena.pool_bytes(), parameters);
    if (pages == 0) {
      throw Unsupported("flatter_scatter needs a pool and access_block_bytes of at least one page and its entry (" +
                        std::to_string(parameters.page_bytes + sizeof(flatter_scatter::PageEntry)) + " bytes)");
    }
    FlatterScatter allocator;
    flatter_scatter::Heap& heap = allocator.heap_;
    heap.base = arena.pool().base;
    heap.first_block = arena.metadata<std::uint32_t>(1);
    heap.blocks =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(1, arena.pool_bytes() / parameters.access_block_bytes));
    if (heap.blocks > 1) heap.block_shift = simt::count_trailing_zeros(parameters.access_block_bytes);
    heap.pages = static_cast<std::uint32_t>(pages);
    heap.stride = parameters.block_stride;
    heap.waste_factor = parameters.waste_factor;
    heap.layout.bytes_log2 = simt::count_trailing_zeros(parameters.page_bytes);
    heap.reset_pages = parameters.reset_pages;
    heap.orders = parameters.chosen_orders();
    allocator.limit_.bytes = max_request(arena.pool_bytes(), parameters);
    allocator.reset(arena.stream());
    return allocator;
  }

  void reset(simt::Stream& stream) {
    simt::device_fill(stream, heap_.first_block, 0, sizeof *heap_.first_block);
    constexpr std::uint32_t threads = 128;
    const std::uint64_t words = std::uint64_t{heap_.pages} * heap_.blocks * heap_.layout.most_words();
    const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>((words - 1) / threads + 1, 4096));
    simt::launch(stream, {blocks, threads}, flatter_scatter::PreparePages{}, heap_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes == 0 || limit_.refuses(bytes)) return nullptr;
    const std::uint32_t size = units_of(static_cast<std::uint32_t>(bytes), 4) << 4;
    const std::uint32_t hash = scatteralloc::scatter_hash(thread, size, heap_.layout.bytes_log2);
    const auto first_block = thread.atomic(*heap_.first_block);
    const std::uint32_t moved = first_block.load(simt::relaxed);
    std::uint32_t block = (hash % heap_.stride + heap_.stride * moved) % heap_.blocks;
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < heap_.blocks; ++i) {
      if (std::byte* const found = search(thread, heap_.block(block), hash, size)) return found;
      if (i == 0) first_block.store(moved + 1, simt::relaxed);
      if (++block == heap_.blocks) block = 0;
    }
    return nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - heap_.base);
    const auto index = static_cast<std::uint32_t>(offset >> heap_.block_shift);
    const flatter_scatter::AccessBlock access = heap_.block(index);
    const auto inside = static_cast<std::size_t>(static_cast<std::byte*>(block) - access.base);
    access.give(thread, static_cast<std::uint32_t>(inside >> heap_.layout.bytes_log2),
                static_cast<std::uint32_t>(inside) & (heap_.layout.bytes() - 1));
  }

  std::string broken_invariant(simt::Stream& stream) const {
    for (std::uint32_t i = 0; i < heap_.blocks; ++i) {
      const std::string broken = flatter_scatter::broken_page(stream, heap_.block(i));
      if (!broken.empty()) return "access block " + std::to_string(i) + ": " + broken;
    }
    return {};
  }

  const flatter_scatter::Heap& heap() const { return heap_; }

 private:
  // Returns the number of pages of an access block.
  static std::uint64_t pages_of(std::size_t pool_bytes, const Parameters& parameters) {
    const std::uint64_t bytes = std::min<std::uint64_t>(pool_bytes, parameters.access_block_bytes);
    return bytes / (parameters.page_bytes + sizeof(flatter_scatter::PageEntry));
  }

  template <class Thread>
  SIMT_FN std::byte* search(Thread& thread, const flatter_scatter::AccessBlock& block, std::uint32_t hash,
                            std::uint32_t size) const {
    if (size >= heap_.layout.multi_page_from()) {
      return block.take_pages(thread, hash, size, ((size - 1) >> heap_.layout.bytes_log2) + 1);
    }
    return block.take_chunk(thread, hash, size, size * heap_.waste_factor);
  }

  flatter_scatter::Heap heap_;
  RequestLimit limit_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(flatter_scatter, FlatterScatter)
