// UAlloc serves small blocks from bins. Each SM uses one arena of bins, but SMs may share an arena.
//
// Paper: Gelado & Garland, PPoPP 2019 (UAlloc). The lanes of a warp that request one size at the same time share their
// waits for slots and their walks along the bins. Then each lane takes a bit for itself. Lanes that free slots of one
// bin return them together. (The paper has special paths for single lanes and full warps and does not say more.)
//
// Waits: A lane waits for units that another lane is making, for locks, and for readers of RCU. Readers and the holder
// of a list's lock wait for nothing; the holder of the mutex of RCU waits for readers. A lane that makes a bin may wait
// for a chunk. A lane that makes a chunk may wait for a block of the buddy tree.
#pragma once

#include "allocators/bulkalloc/bin_list.hpp"
#include "allocators/bulkalloc/chunks.hpp"

namespace allocbench::bulkalloc {

struct UAlloc {
  Layout layout;
  BuddyTree tree;
  ChunkList::State* chunks = nullptr;  // one list per arena
  Rcu* readers = nullptr;              // one object per arena
  BinList::State* lists = nullptr;     // one list per arena and size
  std::uint32_t arenas = 0;
  std::uint32_t sizes = 0;

  // Returns a block of 2^size_log2 bytes to each lane of the group, or null.
  template <class Thread, class Group>
  SIMT_FN void* malloc(Thread& thread, const Group& group, std::uint32_t size_log2) const {
    const std::uint32_t arena = thread.sm() % arenas;
    const std::uint32_t number = arena * sizes + (size_log2 - least_size_log2);
    const BinList list = list_of(number);
    // This is the page of a new bin of this lane's part, unit_somewhere if a listed bin has a slot, or no_unit.
    std::uint32_t page =
        reserve(thread, group, list.state->slots, list.slots_of_bin,
                [&](const Group& makers, std::uint32_t kept) { return add_bin(thread, makers, number, kept); });
    const auto alike = group.partition(page == unit_somewhere);
    if (page == no_unit) return nullptr;
    if (page == unit_somewhere) page = claim(thread, alike, arena, list);
    return layout.slot(page, size_log2, list.take_slot(thread, page, group.thread_rank()));
  }

  // Frees a block of each lane of the group. For each bin, one lane returns all freed slots. These lanes act one after
  // the other, because simultaneous returns lose exchanges to each other.
  template <class Thread, class Group>
  SIMT_FN void free(Thread& thread, const Group& lanes, std::size_t offset_in_pool) const {
    const Layout::Place place = layout.place_of(offset_in_pool);
    const std::uint32_t number = thread.atomic(layout.bin(place.page).list).load(simt::relaxed);
    const BinList list = list_of(number);
    list.clear_slot(thread, place.page, place.offset >> (number % sizes + least_size_log2));
    const auto group = lanes.match_any(place.page);
    lanes.sync();  // the leader's release covers all lanes
    SIMT_ROLLED
    for (simt::LaneMask rest = lanes.ballot(group.leader()); rest != 0; rest &= rest - 1) {
      if (thread.lane() == simt::count_trailing_zeros(rest)) {
        const BinList::Fate fate = list.give(thread, place.page, group.num_threads());
        if (fate == BinList::Fate::retires) chunk_list(number / sizes).give(thread, place.page);
        if (fate == BinList::Fate::retires_after_readers) after_readers(thread, number / sizes, place.page);
      }
      lanes.sync();
    }
  }

  SIMT_FN BinList list_of(std::uint32_t number) const {
    return {layout, lists + number, layout.slots(number % sizes + least_size_log2)};
  }
  SIMT_FN ChunkList chunk_list(std::uint32_t arena) const { return {layout, tree, chunks + arena}; }

 private:
  // Returns the page of the bin that has the lane's slot. Each lane of the group has a unit.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t claim(Thread& thread, const Group& group, std::uint32_t arena, const BinList& list) const {
    const std::uint32_t lanes = group.num_threads();
    const std::uint32_t rank = group.thread_rank();
    std::uint32_t page = no_page;
    SIMT_ROLLED
    for (std::uint32_t done = 0; done < lanes;) {
      BinList::Claim claim{0, 0, false};
      if (group.leader()) {
        claim = list.claim(thread, readers[arena], lanes - done);
        // The bin is unlinked before the lanes get their blocks, because until then it cannot become empty and retire.
        if (claim.last && list.unlink_exhausted(thread, claim.page)) after_readers(thread, arena, claim.page);
      }
      claim.page = group.broadcast(claim.page);
      claim.slots = group.broadcast(claim.slots);
      if (rank >= done && rank < done + claim.slots) page = claim.page;
      done += claim.slots;
    }
    group.sync();  // the leader's acquire of the bins covers all lanes
    return page;
  }

  // Makes a new bin for each lane of the group. Returns no_unit if there is no memory. All lanes have the same arena.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t add_bin(Thread& thread, const Group& makers, std::uint32_t number, std::uint32_t kept) const {
    const std::uint32_t page = chunk_list(number / sizes).take(thread, makers);
    if (page == no_page) return no_unit;
    list_of(number).add(thread, page, number, kept);
    return page;
  }

  template <class Thread>
  SIMT_FN void after_readers(Thread& thread, std::uint32_t arena, std::uint32_t page) const {
    readers[arena].call(
        thread, page + 1, [&](std::uint32_t item) -> std::uint32_t& { return layout.bin(item - 1).queued; },
        [&](std::uint32_t item) {
          const std::uint32_t number = thread.atomic(layout.bin(item - 1).list).load(simt::relaxed);
          if (list_of(number).settle(thread, item - 1)) chunk_list(arena).give(thread, item - 1);
        });
  }
};

}  // namespace allocbench::bulkalloc
