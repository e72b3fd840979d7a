// ScatterHeap is the heap of ScatterAlloc, reworked: malloc and free over the page table. scatteralloc_reworked.hpp has
// the paper, the idea and the changes.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "allocators/scatteralloc/multi_page.hpp"
#include "allocators/scatteralloc/page_check.hpp"
#include "allocators/scatteralloc/scatter_parameters.hpp"
#include "allocators/scatteralloc/search.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::scatteralloc {

template <Coalescing coalescing, PageReset page_reset>
class ScatterHeap {
 public:
  using Parameters = ReworkedParameters;
  using Table = PageTable<page_reset == PageReset::on>;

  // A run may take all pages.
  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return pool_bytes / parameters.page_bytes * parameters.page_bytes;
  }

  // The heap has six pages. A page has up to 63 chunks of 16 bytes. Four lanes may hold coalesced chunks of
  // four different sizes at once, and a page has one chunk size. Without page reset, a page never changes its chunk
  // size, so the heap need not serve anything again.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.page_bytes = 1024;
    parameters.region_pages = 2;
    parameters.rehashes = 1;
    constexpr double share = page_reset == PageReset::on ? 1 : 0;
    return {6 * 1024, parameters, share, share, 378};
  }
  // This heap has two access blocks.
  static SmallHeap<Parameters> second_small_heap() {
    auto heap = small_heap();
    heap.pool_bytes = 8 * 1024;
    heap.parameters.access_blocks = 2;
    heap.serves_new = 504;
    return heap;
  }

  void reset(simt::Stream& stream) {
    simt::device_fill(stream, runs_.table.entries, 0, runs_.table.pages * sizeof *runs_.table.entries);
    simt::device_fill(stream, regions_.failures, 0, regions_.count * sizeof *regions_.failures);
    simt::device_fill(stream, regions_.first_block, 0, sizeof *regions_.first_block);
    simt::device_fill(stream, regions_.resume, 0, Regions::resume_words * sizeof *regions_.resume);
    simt::device_fill(stream, runs_.state, 0, sizeof *runs_.state);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const Table& table = runs_.table;
    if (bytes > table.format.page_bytes()) {
      const std::size_t pages = ((bytes - 1) >> table.format.page_shift) + 1;  // cannot overflow
      return pages > table.pages ? nullptr : runs_.malloc(thread, static_cast<std::uint32_t>(pages));
    }
    const auto size = static_cast<std::uint32_t>(bytes);
    if constexpr (coalescing == Coalescing::on) {
      const std::uint32_t rounded = simt::round_up(size == 0 ? 1u : size, granule);
      const bool small = rounded < table.format.page_bytes() / 32;
      const auto group = thread.converged().partition(small);
      return malloc_chunk(thread, group, rounded, small && group.num_threads() > 1);
    } else {
      const std::uint32_t chunk = table.format.chunk_bytes(size);
      return find_chunk(thread, thread.converged().match_any(chunk), chunk, true);
    }
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const Table& table = runs_.table;
    const std::size_t offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - table.base);
    const auto page = static_cast<std::uint32_t>(offset >> table.format.page_shift);
    // The chunk size of a page does not change while one of its chunks is in use.
    const std::uint64_t entry = thread.atomic(table.entries[page]).load(simt::relaxed);
    if (Entry::units(entry) == Entry::run_first) {
      runs_.free(thread, page);
      regions_.has_room(thread, page);
      return;
    }
    if (!Entry::holds_chunks(entry)) return;  // the block is not ours; the division below would fault on a CPU
    const std::uint32_t chunk = table.chunk_of(entry);
    const std::uint32_t offset_in_page = static_cast<std::uint32_t>(offset) & (table.format.page_bytes() - 1);
    const std::uint32_t index = offset_in_page / chunk;
    if constexpr (coalescing == Coalescing::on) {
      // A block that does not lie at the start of a chunk is a member of a coalesced chunk.
      const std::uint32_t offset_in_chunk = offset_in_page - index * chunk;
      if (offset_in_chunk != 0 && !last_member(thread, offset - offset_in_chunk)) return;
    }
    free_chunk(thread, page, chunk, index);
  }

  std::string broken_invariant(simt::Stream& stream) const { return broken_page(runs_.table, stream); }

  // Tests read the pages and regions in use.
  const Table& table() const { return runs_.table; }
  const Regions& regions() const { return regions_; }

 protected:
  static ScatterHeap lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    ScatterHeap allocator;
    const std::uint64_t page_bytes = parameters.page_bytes;
    if (arena.pool_bytes() < page_bytes || arena.pool_bytes() / page_bytes > 0x7fffffffu) {
      throw Unsupported(std::string(name) + " needs a pool of 1 to 2^31 pages of " + std::to_string(page_bytes) +
                        " bytes");
    }
    Table& table = allocator.runs_.table;
    table.format = PageFormat::of_page_bytes(page_bytes);
    table.waste_factor = parameters.waste_factor;
    table.pages = static_cast<std::uint32_t>(arena.pool_bytes() / page_bytes);
    table.base = arena.pool().base;
    table.entries = arena.metadata<std::uint64_t>(table.pages);
    table.full_segments = arena.metadata<std::uint32_t>(table.pages);
    Regions& regions = allocator.regions_;
    regions.shift = simt::count_trailing_zeros(parameters.region_pages);
    regions.pages = table.pages;
    regions.count = (table.pages - 1) / parameters.region_pages + 1;
    // Small pools have fewer access blocks than the parameter says, with one region each.
    const std::uint32_t whole_regions = std::max(table.pages / parameters.region_pages, 1u);
    regions.blocks = std::min(parameters.access_blocks, whole_regions);
    const std::uint32_t block_pages = whole_regions / regions.blocks * parameters.region_pages;
    regions.pages_per_block = Modulo(std::min(block_pages, table.pages));
    regions.rehashes = parameters.rehashes;
    regions.window_mask = std::bit_ceil((table.pages - 1) / Regions::window_pages + 1) - 1;
    regions.failures = arena.metadata<std::uint32_t>(regions.count);
    regions.first_block = arena.metadata<std::uint32_t>(1);
    regions.resume = arena.metadata<std::uint32_t>(Regions::resume_words);
    allocator.runs_.state = arena.metadata<ScanState>(1);
    return allocator;
  }

 private:
  static constexpr std::uint32_t granule = 16;  // bytes; also the header of a coalesced chunk

  // Serves a group. With `together`, all lanes of the group share one chunk. Otherwise, or if no such chunk is found,
  // each lane gets its own chunk or null. find_chunk() is called in a loop, so that its code exists once.
  template <class Thread, class Group>
  SIMT_FN void* malloc_chunk(Thread& thread, const Group& group, std::uint32_t size, bool together) {
    const PageFormat& format = runs_.table.format;
    std::uint32_t before = 0;
    std::uint32_t wanted = size;
    if (together) {
      before = group.thread_rank() * size;
      wanted = granule + group.num_threads() * size;
      if (!group.all(size == group.broadcast(size))) {
        before = group.exclusive_sum(size);
        wanted = granule + group.reduce_add(size);
      }
    }
    SIMT_ROLLED
    for (;;) {
      const std::uint32_t chunk = format.chunk_bytes(wanted);
      const auto seekers = together ? group : group.match_any(chunk);
      auto* block = static_cast<std::byte*>(find_chunk(thread, seekers, chunk, !together || group.leader()));
      if (!together) return block;
      if (block != nullptr) {
        thread.atomic(*reinterpret_cast<std::uint32_t*>(block)).store(group.num_threads(), simt::relaxed);
      }
      block = reinterpret_cast<std::byte*>(group.broadcast(reinterpret_cast<std::uint64_t>(block)));
      group.sync();  // the earlier owners' writes and the header are ordered before the members' accesses
      if (block != nullptr) return block + granule + before;
      together = false;
      wanted = size;
    }
  }

  // Subtracts the number of calling members from the count of the chunk at this offset. Returns true for the member
  // that must free the chunk.
  template <class Thread>
  SIMT_FN bool last_member(Thread& thread, std::size_t chunk_offset) {
    const auto group = thread.converged().match_any(static_cast<std::uint64_t>(chunk_offset));
    group.sync();  // the leader's release covers all lanes
    if (!group.leader()) return false;
    const auto members = thread.atomic(*reinterpret_cast<std::uint32_t*>(runs_.table.base + chunk_offset));
    return members.fetch_sub(group.num_threads(), simt::acq_rel) == group.num_threads();
  }

  // Returns a chunk to every lane that `wants` one. All request the same size. A lane gets null if the search finds no
  // chunk for it. If the hashed pages serve all lanes, the group does not call search().
  template <class Thread, class Group>
  SIMT_FN void* find_chunk(Thread& thread, const Group& group, std::uint32_t chunk, bool wants) {
    const Table& table = runs_.table;
    // All lanes start at the page of the leader, because SM, warp slot and access block may change between two reads.
    const std::uint32_t start = group.broadcast(regions_.hash(thread, chunk, table.format.page_shift));
    void* block = nullptr;
    const auto seekers = group.partition(wants);
    if (wants) {
      const std::uint32_t page = seekers.num_threads() == 1 ? start : near_page(group, chunk, start);
      block = claim_chunks(thread, seekers.match_any(page), page, chunk, false);
    }
    const bool without = wants && block == nullptr;
    if (!group.any(without)) return block;
    void* const found = search(thread, group, chunk, start, without);
    return block == nullptr ? found : block;
  }

  // Returns the lane's page near `page`. Lanes spread over consecutive pages if a page has fewer chunks than lanes.
  template <class Group>
  SIMT_FN std::uint32_t near_page(const Group& group, std::uint32_t chunk, std::uint32_t page) const {
    const Table& table = runs_.table;
    if (table.format.flat(chunk)) page += group.thread_rank() / table.format.flat_chunks(chunk);
    if (page >= table.pages) page -= table.pages;
    return page < table.pages ? page : 0;  // the pool may have fewer pages than the warp would fill
  }

  // Continues find_chunk() if the hashed pages did not serve all lanes. Lanes that need nothing and lanes that have a
  // chunk help. Otherwise the last lane would walk alone, two pages at a time.
  template <class Thread, class Group>
  SIMT_FN void* search(Thread& thread, const Group& group, std::uint32_t chunk, std::uint32_t start, bool wants) {
    const Table& table = runs_.table;
    Walk walk(start);
    void* block = nullptr;
    auto seekers = group.partition(wants);
    SIMT_ROLLED
    for (std::uint32_t attempt = 0;; ++attempt) {
      const bool walking = attempt > regions_.rehashes;
      // The hashed pages are tried again, because other lanes may have taken only the bits that the first try chose.
      std::uint32_t page = attempt == 0 ? walk.page() : regions_.scattered(thread, chunk, attempt);
      bool room;
      const auto has_room = [&](std::uint64_t entry) { return table.has_room(entry, chunk); };
      if (walking || attempt > Regions::close_tries) {
        std::uint32_t end = table.pages;
        if (walking) {
          if (!walk.next(thread, regions_, group)) return block;
          page = walk.page();
          end = walk.end(regions_);
        }
        page = look(thread, group, table.entries, page, end, has_room);
        room = page != no_page;
      } else {
        page = near_page(group, chunk, page);
        room = has_room(thread.atomic(table.entries[page]).load(simt::relaxed));
      }
      const simt::LaneMask saw_room = group.ballot(room);
      // Lanes whose page has no room move to the page of another lane.
      if (saw_room != 0) {
        const std::uint32_t other = nth_lane(saw_room, seekers.thread_rank() % simt::popcount(saw_room));
        page = group.shfl_lane(page, room ? thread.lane() : other);
        if (wants) block = claim_chunks(thread, seekers.match_any(page), page, chunk, true);
      }
      const std::uint32_t before = wants ? seekers.num_threads() : group.num_threads() - seekers.num_threads();
      wants = wants && block == nullptr;
      seekers = group.partition(wants);
      const std::uint32_t left = wants ? seekers.num_threads() : group.num_threads() - seekers.num_threads();
      if (walking) {
        walk.look_done(thread, regions_, group, saw_room != 0, left != before);
        thread.probe(simt::Step::walk);
      }
      if (left == 0) return block;
    }
  }

  // Claims chunks of one page for all lanes of the group together. Returns null to lanes that get none.
  template <class Thread, class Group>
  SIMT_FN void* claim_chunks(Thread& thread, const Group& group, std::uint32_t page, std::uint32_t chunk, bool look) {
    const Table& table = runs_.table;
    Claim claim{0, 0};
    if (group.leader()) claim = table.claim(thread, page, chunk, group.num_threads(), look);
    claim = {group.broadcast(claim.chunk), group.broadcast(claim.bits_or_count)};
    group.sync();  // the earlier owners' writes are ordered before the accesses of all lanes
    if (claim.chunk == 0) return nullptr;
    const std::uint32_t rank = group.thread_rank();
    std::uint32_t index;
    if (table.format.flat(claim.chunk)) {
      if (rank >= simt::popcount(claim.bits_or_count)) return nullptr;
      index = nth_lane(claim.bits_or_count, rank);
    } else {
      if (rank >= (claim.bits_or_count & 0xffff)) return nullptr;
      index = table.take_bit(thread, page, claim.chunk, (claim.bits_or_count >> 16) + rank);
      if (index == Table::no_chunk) {
        table.release_count(thread, page, 1);
        return nullptr;
      }
    }
    return table.chunk_address(page, claim.chunk, index);
  }

  template <class Thread>
  SIMT_FN void free_chunk(Thread& thread, std::uint32_t page, std::uint32_t chunk, std::uint32_t index) {
    const Table& table = runs_.table;
    const bool flat = table.format.flat(chunk);
    if (!flat) table.clear_bit(thread, page, chunk, index);
    const auto group = thread.converged().match_any(page);
    const std::uint32_t bits = group.reduce_add(flat ? 1u << index : 1u);  // a sum of different bits
    group.sync();                                                          // the leader's release covers all lanes
    if (!group.leader()) return;
    std::uint32_t used;
    std::uint32_t left;
    if (flat) {
      const std::uint32_t before = Entry::bits(table.release_bits(thread, page, bits));
      used = simt::popcount(before);
      left = simt::popcount(before & ~bits);
    } else {
      used = Entry::count(table.release_count(thread, page, bits));
      left = used - bits;
    }
    const std::uint32_t half = table.format.chunks(chunk) / 2;
    if (used > half && left <= half) regions_.has_room(thread, page);
  }

  // Returns the position of the n-th set bit, counted from 0. No loop is needed if the lowest bits are set.
  SIMT_FN static std::uint32_t nth_lane(std::uint32_t bits, std::uint32_t n) {
    if ((low_bits(n + 1) & ~bits) == 0) return n;
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < n; ++i) bits &= bits - 1;
    return simt::count_trailing_zeros(bits);
  }

  MultiPage<page_reset == PageReset::on> runs_;
  Regions regions_;
};

}  // namespace allocbench::scatteralloc
