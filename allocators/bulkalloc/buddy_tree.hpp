// BuddyTree (TBuddy) serves blocks of 2^height pages from a static binary tree, with a bulk semaphore per height.
//
// Paper: Gelado & Garland, PPoPP 2019 (TBuddy).
//
// Data: Each node of a complete tree over the pages has one word with a state and a lock. The state is available (a
// free block), partial (a node below is available) or busy (neither). Node 1 is the root, and 2n and 2n + 1 are the
// halves of n. Nodes behind the last page are busy forever, so the number of pages need not be a power of two. If both
// halves of a block are available, a thread tries to merge them.
//
// Protocol:
// * take: A thread waits for a unit of the wanted height, then searches for an available node, which must exist. If the
//   semaphore tells it to make a batch, the thread takes a block of twice the size, keeps one half and makes the other
//   half available. A search begins at a node that a hash chooses, and goes down only through partial nodes.
// * give: A thread first tries to merge its block with the buddy: it takes a unit of the block's height and then the
//   buddy, or neither. Before that, the thread announces to the semaphore a block of twice the size. If the thread
//   cannot merge its block, the block becomes available.
// * correction: A thread that has taken a node, or made it available, corrects the node's ancestors (in a merge, those
//   of the merged block). It locks the node and its parent, derives the parent's state from the two halves, and
//   continues only if the state changed. A correction locks at most two nodes at a time, the lower one first.
//
// A correction may come late, when the parent is already a free block or in use. Such a correction does not change an
// available parent. The halves of a block in use are busy, so the correction leaves the block busy.
//
// Assumed (the paper does not say): A table, indexed by first pages, has the height of each block in use. A unit is
// signalled after the upward correction, so the thread that gets it finds the node.
//
// Differs from the paper:
// * If two halves are freed at the same time, both frees may find no unit of the other half, and then neither merges.
//   The upward correction sees both halves. The thread of this correction then waits for two units and merges the
//   halves, as long as both are available. Threads that have a unit take a node or return the unit, and never wait for
//   another unit of the same height.
// * In the paper, only splits announce expected units. So a thread that merges up to the root may hold all free memory
//   for a moment, and then other threads get null. Here merges announce their blocks too, and the other threads wait
//   for them. The merge of a freed block with its buddy waits only for locks. A failed merge holds units for a moment
//   and has announced a block that does not come, so null is still possible.
#pragma once

#include "allocators/bulkalloc/semaphore.hpp"
#include "simt/simt.hpp"

namespace allocbench::bulkalloc {

inline constexpr std::uint32_t no_page = 0xffffffffu;

struct BuddyTree {
  static constexpr std::uint32_t available = 1;
  static constexpr std::uint32_t partial = 2;
  static constexpr std::uint32_t locked = 4;
  static constexpr std::uint32_t batch = 2;

  std::uint32_t* nodes = nullptr;
  Semaphore* blocks = nullptr;  // one semaphore per height
  std::uint32_t pages = 0;
  std::uint32_t root_height = 0;
  std::uint32_t most_height = 0;  // height of the largest block

  SIMT_HOST_FN std::uint32_t node_of(std::uint32_t page, std::uint32_t height) const {
    return (1u << (root_height - height)) + (page >> height);
  }
  SIMT_HOST_FN std::uint32_t page_of(std::uint32_t node, std::uint32_t height) const {
    return (node - (1u << (root_height - height))) << height;
  }

  // Returns to each lane of the group the first page of a block of 2^height pages, or no_page.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t take(Thread& thread, Group group, std::uint32_t height) const {
    std::uint32_t above = height;
    SIMT_ROLLED
    while (!blocks[above].wait_each(thread, group, batch)) {
      if (above == most_height) {
        cancel(thread, height, above);
        return no_page;
      }
      ++above;
    }
    std::uint32_t node = find(thread, above);
    correct_above(thread, node);
    SIMT_ROLLED
    while (above != height) {
      thread.probe(simt::Step::split);
      node = 2 * node;
      --above;
      open(thread, node + 1);
      blocks[above].signal(thread, 1, 1);
    }
    return page_of(node, height);
  }

  // Frees a block. `expected` is true if the block is among the expected units of its height.
  template <class Thread>
  SIMT_FN void give(Thread& thread, std::uint32_t page, std::uint32_t height, bool expected = false) const {
    std::uint32_t node = node_of(page, height);
    SIMT_ROLLED
    for (;; node /= 2, ++height, expected = true) {
      if (height != most_height && merge(thread, node, height, expected)) continue;
      const bool pair = open(thread, node);
      blocks[height].signal(thread, 1, expected ? 1 : 0);
      if (!pair || !reunite(thread, node, height)) return;
    }
  }

 private:
  template <class Thread>
  SIMT_FN std::uint32_t look(Thread& thread, std::uint32_t node) const {
    return thread.atomic(nodes[node]).load(simt::relaxed);
  }
  template <class Thread>
  SIMT_FN void lock(Thread& thread, std::uint32_t node) const {
    while ((thread.atomic(nodes[node]).fetch_or(locked, simt::acquire) & locked) != 0) thread.spin_hint();
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread, std::uint32_t node) const {
    thread.atomic(nodes[node]).fetch_and(~locked, simt::release);
  }

  // Withdraws the unit that this thread has announced at each height from `height` to `above`, because it gets no block
  // to split. Threads that wait for these units check again.
  template <class Thread>
  SIMT_FN void cancel(Thread& thread, std::uint32_t height, std::uint32_t above) const {
    SIMT_ROLLED
    for (++above; above-- != height;) blocks[above].signal(thread, 0, 1);
  }

  // Changes a node from available to busy. Returns false if it is not available.
  template <class Thread>
  SIMT_FN bool try_take(Thread& thread, std::uint32_t node) const {
    const auto word = thread.atomic(nodes[node]);
    std::uint32_t seen = word.load(simt::relaxed);
    while ((seen & available) != 0) {
      if (word.compare_exchange(seen, seen & ~available, simt::acq_rel, simt::relaxed)) return true;
    }
    return false;
  }
  // Changes a node from busy to available. Returns true if its buddy is available, too.
  template <class Thread>
  SIMT_FN bool open(Thread& thread, std::uint32_t node) const {
    thread.atomic(nodes[node]).fetch_or(available, simt::acq_rel);
    return correct_above(thread, node);
  }

  // Takes an available node of this height. The caller has a unit for it.
  template <class Thread>
  SIMT_FN std::uint32_t find(Thread& thread, std::uint32_t height) const {
    std::uint32_t order = thread.sm() * 0x85ebca6bu ^ thread.rank_in_grid() * 0x9e3779b1u;
    SIMT_ROLLED
    for (;;) {
      const std::uint32_t node = search(thread, height, order);
      if (node != 0) return node;
      order += 0x9e3779b1u;
      thread.spin_hint();
    }
  }

  // Searches the tree once, depth first, and takes an available node of this height. Returns 0 if it takes none. Bit i
  // of `order` selects the half that comes first at height i.
  template <class Thread>
  SIMT_FN std::uint32_t search(Thread& thread, std::uint32_t height, std::uint32_t order) const {
    std::uint32_t node = 1;
    std::uint32_t here = root_height;
    SIMT_ROLLED
    for (;;) {
      if (here == height) {
        if (try_take(thread, node)) return node;
      } else if ((look(thread, node) & partial) != 0) {
        --here;
        node = 2 * node + (order >> here & 1);
        continue;
      }
      thread.probe(simt::Step::walk);
      while (node != 1 && (node & 1) != (order >> here & 1)) {
        node /= 2;
        ++here;
      }
      if (node == 1) return 0;
      node ^= 1;
    }
  }

  // Corrects the ancestors of a changed node. Returns true if the node and its buddy are both available. If two threads
  // open the two halves of a block at the same time, the one that locks the parent later sees both.
  template <class Thread>
  SIMT_FN bool correct_above(Thread& thread, std::uint32_t node) const {
    if (node == 1) return false;
    bool pair = false;
    bool lowest = true;
    lock(thread, node);
    SIMT_ROLLED
    for (;;) {
      const std::uint32_t parent = node / 2;
      lock(thread, parent);
      const std::uint32_t one = look(thread, node);
      const std::uint32_t other = look(thread, node ^ 1);
      const std::uint32_t now = look(thread, parent);
      if (lowest) pair = (one & other & available) != 0;
      lowest = false;
      const bool has_room = ((one | other) & (available | partial)) != 0;
      const bool changes = (now & available) == 0 && has_room != ((now & partial) != 0);
      if (changes) thread.atomic(nodes[parent]).fetch_xor(partial, simt::relaxed);
      unlock(thread, node);
      node = parent;
      if (!changes || node == 1) break;
    }
    unlock(thread, node);
    return pair;
  }

  // Merges the caller's busy node with its buddy. Then the caller owns the parent, which is busy. Returns false if
  // there is no unit of this height or the buddy is not available. The caller takes a unit first, because a node may be
  // taken only with a unit.
  template <class Thread>
  SIMT_FN bool merge(Thread& thread, std::uint32_t node, std::uint32_t height, bool expected) const {
    Semaphore& halves = blocks[height];
    if (!halves.has(thread, 1)) return false;
    blocks[height + 1].expect(thread, 1);
    if (halves.try_wait_by_addition(thread, 1, expected ? 1 : 0)) {
      if (try_take(thread, node ^ 1)) {
        own(thread, node / 2);
        return true;
      }
      if (expected) halves.expect(thread, 1);
      halves.signal(thread, 1, 0);
    }
    blocks[height + 1].signal(thread, 0, 1);
    return false;
  }

  // Merges two available halves, unless another thread takes one of them. In that case, the thread that makes this half
  // available again checks both halves. If two threads try to merge the same halves, only the one that gets the left
  // half tries the right half. Returns true if the caller now owns the parent.
  template <class Thread>
  SIMT_FN bool reunite(Thread& thread, std::uint32_t node, std::uint32_t height) const {
    const std::uint32_t left = node & ~1u;
    Semaphore& halves = blocks[height];
    std::uint32_t waits = 0;
    SIMT_ROLLED
    for (;;) {
      if ((look(thread, left) & look(thread, left + 1) & available) == 0) return false;
      if (!halves.has(thread, 2)) {
        Semaphore::back_off(thread, waits++);
        continue;
      }
      blocks[height + 1].expect(thread, 1);
      if (halves.try_wait_by_addition(thread, 2, 0)) {
        if (try_take(thread, left)) {
          if (try_take(thread, left + 1)) {
            own(thread, left / 2);
            return true;
          }
          open(thread, left);
        }
        halves.signal(thread, 2, 0);
      }
      blocks[height + 1].signal(thread, 0, 1);
    }
  }

  // Changes a node from partial to busy. The caller owns both halves.
  template <class Thread>
  SIMT_FN void own(Thread& thread, std::uint32_t node) const {
    thread.probe(simt::Step::merge);
    lock(thread, node);
    thread.atomic(nodes[node]).fetch_and(~partial, simt::relaxed);
    unlock(thread, node);
  }
};

// Sets up the tree of an empty pool. One thread of the grid does the work. All nodes and semaphores must already be
// zero.
struct PrepareTree {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BuddyTree tree) const {
    if (thread.rank_in_grid() != 0) return;
    for (std::uint32_t height = 0; height <= tree.root_height; ++height) {
      const std::uint32_t end = tree.pages >> height;  // position of the node in which the pool ends, if there is one
      if ((end << height) != tree.pages) tree.nodes[tree.node_of(end << height, height)] = BuddyTree::partial;
      if ((end & 1) == 0) continue;
      tree.nodes[tree.node_of((end - 1) << height, height)] = BuddyTree::available;
      thread.atomic(tree.blocks[height].word).store(Semaphore::unit, simt::relaxed);
    }
  }
};

}  // namespace allocbench::bulkalloc
