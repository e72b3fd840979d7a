// ChunkList holds the chunks of an arena that have free bins. A chunk comes from the buddy tree, provides bins, and may
// return to the tree when all its bins are free.
//
// Paper: Gelado & Garland, PPoPP 2019 (UAlloc). Requests for bins also have two stages.
//
// Stage 1 is a semaphore that counts bins. A batch has the bins of one chunk. In stage 2, one of the lanes that call
// together takes a lock for all of them (the "collective mutex"). The lane with rank k takes the k-th free bin of the
// list. The last lane removes the chunks without free bins from the list. A chunk whose bins are all free returns to
// the tree if as many units are available as it has bins. If fewer are available, lanes hold the missing units and will
// take bins. Then the chunk stays, `whole` counts it, and each group that takes bins later checks again.
#pragma once

#include "allocators/bulkalloc/buddy_tree.hpp"
#include "allocators/bulkalloc/layout.hpp"
#include "allocators/support/common/lock.hpp"

namespace allocbench::bulkalloc {

struct ChunkList {
  // All bytes are zero at first.
  struct State {
    alignas(128) Semaphore bins;
    std::uint32_t lock;
    std::uint32_t first;  // page of the first chunk with free bins plus 1, or 0 if there is none
    std::uint32_t whole;  // number of listed chunks whose bins are all free
  };

  Layout layout;
  BuddyTree tree;
  State* state = nullptr;

  // Returns to each lane of the group the page of a free bin, or no_page if there is none.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t take(Thread& thread, const Group& group) const {
    const std::uint32_t unit = reserve(thread, group, state->bins, layout.bins(),
                                       [&](const Group& makers, std::uint32_t) { return add_chunk(thread, makers); });
    const auto alike = group.partition(unit != no_unit);
    return unit != no_unit ? take_listed(thread, alike) : no_page;
  }

  // Frees a bin that is in no list and that no other thread uses.
  template <class Thread>
  SIMT_FN void give(Thread& thread, std::uint32_t page) const {
    const std::uint32_t first_page = layout.chunk_of(page);
    Chunk& chunk = layout.chunk(first_page);
    const std::uint32_t bin = page - first_page;
    acquire(thread);
    thread.atomic(chunk.bits[bin / 32]).fetch_and(~(1u << bin % 32), simt::release);
    const std::uint32_t free = thread.atomic(chunk.free).fetch_add(1u, simt::relaxed) + 1;
    if (free == 1) insert(thread, first_page);
    state->bins.signal(thread, 1, 0);
    bool whole = free == layout.bins();
    if (whole && !remove_whole(thread, first_page)) {
      thread.atomic(state->whole).fetch_add(1u, simt::relaxed);
      whole = false;
    }
    unlock(thread, state->lock);
    if (whole) tree.give(thread, first_page, layout.chunk_height, true);
  }

 private:
  template <class Thread>
  SIMT_FN void acquire(Thread& thread) const {
    while (!try_lock(thread, state->lock)) thread.spin_hint();
  }

  template <class Thread, class Group>
  SIMT_FN std::uint32_t add_chunk(Thread& thread, const Group& makers) const {
    const std::uint32_t page = tree.take(thread, makers, layout.chunk_height);
    if (page == no_page) return no_unit;
    Chunk& chunk = layout.chunk(page);
    clear_bits(thread, chunk.bits, layout.special_bins(), layout.chunk_pages());
    thread.atomic(chunk.free).store(layout.bins(), simt::relaxed);
    acquire(thread);
    insert(thread, page);
    thread.atomic(state->whole).fetch_add(1u, simt::relaxed);
    unlock(thread, state->lock);
    return page;
  }

  // Takes a bin for each lane. Each lane has a unit.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t take_listed(Thread& thread, const Group& group) const {
    if (group.leader()) acquire(thread);
    group.sync();  // the leader's lock covers all lanes
    std::uint32_t skip = group.thread_rank();
    std::uint32_t page = thread.atomic(state->first).load(simt::relaxed) - 1;
    std::uint32_t free = thread.atomic(layout.chunk(page).free).load(simt::relaxed);
    SIMT_ROLLED
    while (skip >= free) {
      skip -= free;
      page = thread.atomic(layout.chunk(page).next).load(simt::relaxed) - 1;
      free = thread.atomic(layout.chunk(page).free).load(simt::relaxed);
      thread.probe(simt::Step::walk);
    }
    Chunk& chunk = layout.chunk(page);
    const std::uint32_t bin = nth_clear_bit(thread, chunk.bits, skip);
    group.sync();  // all lanes have read the words
    if (skip == 0 && free == layout.bins()) thread.atomic(state->whole).fetch_sub(1u, simt::relaxed);
    thread.atomic(chunk.bits[bin / 32]).fetch_or(1u << bin % 32, simt::acquire);
    thread.atomic(chunk.free).fetch_sub(1u, simt::relaxed);
    group.sync();  // all lanes have taken their bins
    std::uint32_t whole = no_page;
    if (group.thread_rank() + 1 == group.num_threads()) {
      cut(thread, page);
      whole = remove_any_whole(thread);
      unlock(thread, state->lock);
      if (whole != no_page) tree.give(thread, whole, layout.chunk_height, true);
    }
    return page + bin;
  }

  // Removes the chunks before this one from the list, because they have no free bin left. Removes this one, too, if it
  // has none.
  template <class Thread>
  SIMT_FN void cut(Thread& thread, std::uint32_t page) const {
    Chunk& chunk = layout.chunk(page);
    std::uint32_t first = page + 1;
    if (thread.atomic(chunk.free).load(simt::relaxed) == 0) first = thread.atomic(chunk.next).load(simt::relaxed);
    thread.atomic(state->first).store(first, simt::relaxed);
    if (first != 0) thread.atomic(layout.chunk(first - 1).previous).store(0, simt::relaxed);
  }

  // Removes the first chunk whose bins are all free, if their units are available. Returns its page, or no_page.
  template <class Thread>
  SIMT_FN std::uint32_t remove_any_whole(Thread& thread) const {
    if (thread.atomic(state->whole).load(simt::relaxed) == 0) return no_page;
    std::uint32_t link = thread.atomic(state->first).load(simt::relaxed);
    SIMT_ROLLED
    while (link != 0) {
      Chunk& chunk = layout.chunk(link - 1);
      if (thread.atomic(chunk.free).load(simt::relaxed) == layout.bins()) {
        if (!remove_whole(thread, link - 1)) return no_page;
        thread.atomic(state->whole).fetch_sub(1u, simt::relaxed);
        return link - 1;
      }
      link = thread.atomic(chunk.next).load(simt::relaxed);
    }
    return no_page;
  }

  // Takes the units of all bins of a chunk and removes the chunk from the list. Then the chunk is an expected unit of
  // the tree, and the caller must give it to the tree. Returns false and keeps the chunk in the list if fewer units are
  // available.
  template <class Thread>
  SIMT_FN bool remove_whole(Thread& thread, std::uint32_t page) const {
    if (!state->bins.has(thread, layout.bins())) return false;
    tree.blocks[layout.chunk_height].expect(thread, 1);
    if (!state->bins.try_wait(thread, layout.bins())) {
      tree.blocks[layout.chunk_height].signal(thread, 0, 1);
      return false;
    }
    Chunk& chunk = layout.chunk(page);
    const std::uint32_t next = thread.atomic(chunk.next).load(simt::relaxed);
    const std::uint32_t previous = thread.atomic(chunk.previous).load(simt::relaxed);
    thread.atomic(previous == 0 ? state->first : layout.chunk(previous - 1).next).store(next, simt::relaxed);
    if (next != 0) thread.atomic(layout.chunk(next - 1).previous).store(previous, simt::relaxed);
    return true;
  }

  template <class Thread>
  SIMT_FN void insert(Thread& thread, std::uint32_t page) const {
    const std::uint32_t next = thread.atomic(state->first).load(simt::relaxed);
    Chunk& chunk = layout.chunk(page);
    thread.atomic(chunk.next).store(next, simt::relaxed);
    thread.atomic(chunk.previous).store(0, simt::relaxed);
    if (next != 0) thread.atomic(layout.chunk(next - 1).previous).store(page + 1, simt::relaxed);
    thread.atomic(state->first).store(page + 1, simt::relaxed);
  }
};

}  // namespace allocbench::bulkalloc
