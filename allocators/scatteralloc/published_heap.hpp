// PublishedHeap is the heap of ScatterAlloc as published: a single lane walks over the pages, for itself or for its
// coalesced group. scatteralloc.hpp lists the differences from the paper.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "allocators/scatteralloc/hash.hpp"
#include "allocators/scatteralloc/page_runs.hpp"
#include "allocators/scatteralloc/scatter_parameters.hpp"
#include "allocators/scatteralloc/usage_check.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::scatteralloc {

// Initialises the masks on the pages and the hint.
struct PreparePages {
  template <class Thread, class Runs>
  SIMT_FN void operator()(Thread& thread, Runs runs) const {
    const std::uint32_t me = thread.rank_in_grid();
    for (std::uint32_t i = me; i < runs.table.pages; i += thread.grid_size()) runs.table.clear_masks(thread, i);
    if (me == 0) thread.atomic(runs.state->end).store(runs.table.pages, simt::relaxed);
  }
};

template <Coalescing coalescing, PageReset page_reset>
class PublishedHeap {
 public:
  using Parameters = ScatterParameters;
  using Table = UsageTable<page_reset == PageReset::on>;

  // A run may take all pages, but sizes have 32 bits.
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    const std::uint64_t bytes = regions_of(pool_bytes, parameters) * parameters.region_pages * parameters.page_bytes;
    return std::min<std::uint64_t>(bytes, 0xffffffffu / parameters.page_bytes * parameters.page_bytes);
  }

  // The heap has six pages and their table. A page has up to 63 chunks of 16 bytes. Four lanes may bind four
  // pages to four sizes of coalesced chunks. Without page reset, a page never changes its chunk size, so the heap need
  // not serve anything again.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.page_bytes = 1024;
    parameters.region_pages = 2;
    // A scan takes the highest free run below the hint. With an odd hint, six pages hold two runs of two pages instead
    // of three.
    constexpr double share = page_reset == PageReset::on ? 2.0 / 3 : 0;
    return {3 * (2 * (1024 + sizeof(PageUsage)) + sizeof(std::uint32_t)), parameters, share, share};
  }

  void reset(simt::Stream& stream) {
    const Table& table = runs_.table;
    simt::device_fill(stream, table.usage, 0, table.pages * sizeof *table.usage);
    simt::device_fill(stream, regions_, 0, region_count_ * sizeof *regions_);
    simt::device_fill(stream, first_block_, 0, sizeof *first_block_);
    simt::device_fill(stream, runs_.state, 0, sizeof *runs_.state);
    constexpr std::uint32_t threads = 128;
    simt::launch(stream, {std::min((table.pages - 1) / threads + 1, 4096u), threads}, PreparePages{}, runs_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes == 0 || limit_.refuses(bytes)) return nullptr;
    const std::uint32_t size = units_of(static_cast<std::uint32_t>(bytes), 4) << 4;
    const PageFormat& format = runs_.table.format;
    if (size >= format.page_bytes()) return runs_.malloc(thread, size);
    if constexpr (coalescing == Coalescing::on) {
      const bool small = size < format.page_bytes() / 32;
      const auto group = thread.converged().partition(small);
      return malloc_chunk(thread, group, size, small && group.num_threads() > 1);
    } else {
      return find_chunk(thread, size);
    }
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const Table& table = runs_.table;
    const std::size_t offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - table.base);
    const auto page = static_cast<std::uint32_t>(offset >> table.format.page_shift);
    const std::uint32_t chunk = thread.atomic(table.usage[page].chunk_bytes).load(simt::relaxed);
    if (chunk >= table.format.page_bytes()) return runs_.free(thread, page, chunk);
    if (chunk == 0) return;  // the block is not ours; the division below would fault on a CPU
    const std::uint32_t in_page = static_cast<std::uint32_t>(offset) & (table.format.page_bytes() - 1);
    const std::uint32_t index = in_page / chunk;
    if constexpr (coalescing == Coalescing::on) {
      // A block that does not lie at the start of a chunk is a member of a coalesced chunk.
      const std::uint32_t in_chunk = in_page - index * chunk;
      if (in_chunk != 0) {
        auto* const members = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(block) - in_chunk);
        if (thread.atomic(*members).fetch_sub(1u, simt::acq_rel) != 1) return;
      }
    }
    const std::uint32_t users = table.leave(thread, page, chunk, index);
    if (users == table.format.page_bytes() / 2 / chunk) has_room(thread, page);
  }

  std::string broken_invariant(simt::Stream& stream) const {
    RunState state;
    simt::copy_to_host(stream, &state, runs_.state, sizeof state);
    if (state.lock != 0) return "the lock of the runs is still held";
    return broken_page_usage(runs_.table, stream);
  }

  const Table& table() const { return runs_.table; }
  const std::uint32_t* regions() const { return regions_; }
  const std::uint32_t* first_block() const { return first_block_; }

 protected:
  static PublishedHeap lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    const std::uint64_t regions = regions_of(arena.pool_bytes(), parameters);
    if (regions == 0 || regions * parameters.region_pages > 0x7fffffffu) {
      throw Unsupported(std::string(name) + " needs a pool of at least " + std::to_string(region_bytes(parameters)) +
                        " bytes (one region) and at most 2^31 pages");
    }
    PublishedHeap allocator;
    Table& table = allocator.runs_.table;
    table.format = {simt::count_trailing_zeros(parameters.page_bytes), 4};
    table.pages = static_cast<std::uint32_t>(regions) * parameters.region_pages;
    table.mask_words = table.format.flat(16) ? 0 : table.format.segments(16).count;
    // The pages come first, then their table, then the counters of the regions.
    table.base = arena.pool().base;
    table.usage = reinterpret_cast<PageUsage*>(table.base + table.pages * parameters.page_bytes);
    allocator.regions_ = reinterpret_cast<std::uint32_t*>(table.usage + table.pages);
    allocator.region_count_ = static_cast<std::uint32_t>(regions);
    allocator.region_shift_ = simt::count_trailing_zeros(parameters.region_pages);
    allocator.waste_factor_ = parameters.waste_factor;
    // Small pools have fewer access blocks than the parameter says, with one region each.
    allocator.blocks_ = std::min(parameters.access_blocks, allocator.region_count_);
    allocator.pages_per_block_ = Modulo(table.pages / allocator.blocks_);
    allocator.limit_.bytes = max_request(arena.pool_bytes(), parameters);
    allocator.first_block_ = arena.metadata<std::uint32_t>(1);
    allocator.runs_.state = arena.metadata<RunState>(1);
    allocator.reset(arena.stream());
    return allocator;
  }

 private:
  static constexpr std::uint32_t header_bytes = 16;  // bytes of the header of a coalesced chunk

  static std::uint64_t region_bytes(const Parameters& parameters) {
    return parameters.region_pages * (parameters.page_bytes + sizeof(PageUsage)) + sizeof(std::uint32_t);
  }
  static std::uint64_t regions_of(std::uint64_t pool_bytes, const Parameters& parameters) {
    return pool_bytes / region_bytes(parameters);
  }

  // Serves a group. With `together`, all lanes share one chunk: 4 bytes count the members, and the members begin at
  // byte 16. With coalescing, find_chunk() is called only here, so that its code exists once.
  template <class Thread, class Group>
  SIMT_FN void* malloc_chunk(Thread& thread, const Group& group, std::uint32_t size, bool together) {
    std::uint32_t before = 0;
    std::uint32_t wanted = size;
    if (together) {
      before = header_bytes + group.exclusive_sum(size);
      wanted = header_bytes + group.reduce_add(size);
    }
    std::byte* block = nullptr;
    if (!together || group.leader()) block = find_chunk(thread, wanted);
    if (!together) return block;
    if (block != nullptr) {  // only the leader has the block
      thread.atomic(*reinterpret_cast<std::uint32_t*>(block)).store(group.num_threads(), simt::relaxed);
    }
    block = reinterpret_cast<std::byte*>(group.broadcast(reinterpret_cast<std::uint64_t>(block)));
    group.sync();  // the earlier owners' writes and the header are ordered before the members' accesses
    return block == nullptr ? nullptr : block + before;
  }

  // Finds a chunk in two passes. Pass 1 goes from the hashed page to the end of the pool and skips regions whose
  // counter has reached 3/4 of their pages (or all, if these are 1 or 2). Pass 2 visits all pages. Later walks start in
  // the last access block that this walk went through from its first to its last page. The block where this walk began
  // does not count, because a walk that began near the end of a nearly empty block would leave it behind.
  template <class Thread>
  SIMT_FN std::byte* find_chunk(Thread& thread, std::uint32_t size) {
    const Table& table = runs_.table;
    const std::uint32_t region_pages = 1u << region_shift_;
    const std::uint64_t wasteful = std::uint64_t{size} * waste_factor_;
    const std::uint32_t most =
        wasteful < table.format.page_bytes() ? static_cast<std::uint32_t>(wasteful) : table.format.page_bytes();
    std::uint32_t first = thread.atomic(*first_block_).load(simt::relaxed);
    std::uint32_t page =
        first * pages_per_block_.divisor() + hashed_page(thread, size, table.format.page_shift, pages_per_block_);
    std::uint32_t block = first;
    std::uint32_t skip_from = region_shift_ < 2 ? region_pages : region_pages / 4 * 3;
    SIMT_ROLLED
    for (;;) {
      while (page < table.pages) {
        const auto region = thread.atomic(regions_[page >> region_shift_]);
        const std::uint32_t failures = region.load(simt::relaxed);
        thread.probe(simt::Step::walk);
        if (failures < skip_from) {
          if (std::byte* const chunk = try_region(thread, page, size, most)) return chunk;
          region.fetch_max(failures + 1 < region_pages ? failures + 1 : region_pages, simt::relaxed);
        } else {
          page += region_pages;
        }
        if (page < end_of_block(block)) continue;
        if (block > first) thread.atomic(*first_block_).store(block, simt::relaxed);
        ++block;
      }
      if (skip_from > region_pages) return nullptr;
      skip_from = region_pages + 1;
      page = block = first = 0;
    }
  }

  // Tries the pages of the region from `page` on. If none has a chunk, `page` becomes the first page behind the region.
  template <class Thread>
  SIMT_FN std::byte* try_region(Thread& thread, std::uint32_t& page, std::uint32_t size, std::uint32_t most) {
    const Table& table = runs_.table;
    const std::uint32_t end = ((page >> region_shift_) + 1) << region_shift_;
    SIMT_ROLLED
    for (; page != end; ++page) {
      const auto chunk_bytes = thread.atomic(table.usage[page].chunk_bytes);
      std::uint32_t chunk = chunk_bytes.load(simt::relaxed);
      if (chunk == 0 && chunk_bytes.compare_exchange(chunk, size, simt::acquire, simt::relaxed)) chunk = size;
      if (chunk < size || chunk > most) continue;
      if (std::byte* const found = table.use(thread, page, chunk, size, most)) return found;
    }
    return nullptr;
  }

  // Returns the first page behind the access block. The last block also has the remaining pages.
  SIMT_FN std::uint32_t end_of_block(std::uint32_t block) const {
    return block + 1 < blocks_ ? (block + 1) * pages_per_block_.divisor() : runs_.table.pages;
  }

  // Records that a free has left this page about half free. Lane 0 of warp slot 0 also moves the start of walks back.
  template <class Thread>
  SIMT_FN void has_room(Thread& thread, std::uint32_t page) {
    thread.atomic(regions_[page >> region_shift_]).store(0u, simt::relaxed);
    if (thread.warp_slot() + thread.lane() != 0) return;
    const std::uint32_t block = page / pages_per_block_.divisor();
    thread.atomic(*first_block_).fetch_min(block < blocks_ ? block : blocks_ - 1, simt::relaxed);
  }

  PageRuns<page_reset == PageReset::on> runs_;
  // A region's counter of failed walks never exceeds the region's number of pages. has_room() sets it to 0.
  std::uint32_t* regions_ = nullptr;
  std::uint32_t* first_block_ = nullptr;  // access block where walks start
  std::uint32_t region_count_ = 0;
  std::uint32_t region_shift_ = 4;
  std::uint32_t blocks_ = 1;
  std::uint32_t waste_factor_ = 2;
  Modulo pages_per_block_;
  RequestLimit limit_;
};

}  // namespace allocbench::scatteralloc
