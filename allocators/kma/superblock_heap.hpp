// SuperblockHeap is the heap of the reworked KMA: an active superblock per block size, in front of the queue of unused
// superblocks.
//
// The entry of the active table decides which thread may detach a superblock. A superblock is marked as attached before
// its index is stored in the entry. Only the thread that removes the index by a compare-exchange may detach the
// superblock. ABA on an entry is harmless: if the superblock was reused meanwhile, this thread is still the only one
// that removed its index. The thread that reserves the last block of a superblock also replaces the superblock.
#pragma once

#include "allocators/kma/superblock.hpp"
#include "allocators/kma/superblock_queue.hpp"
#include "simt/simt.hpp"

namespace allocbench::kma {

// Grant is the result of a reservation: blocks of one superblock. It is one word, so that a leader can broadcast it.
struct Grant {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static constexpr std::uint32_t most = 32;

  std::uint64_t word = none;

  // `position` is a likely place of a clear bit. With `claimed`, the bits are already set, and `position` is the first
  // block.
  static SIMT_FN Grant of(std::uint32_t superblock, std::uint32_t blocks, std::uint32_t position, bool claimed) {
    return {std::uint64_t{superblock} << 32 | (claimed ? 1u << 31 : 0u) | position << 8 | blocks};
  }
  SIMT_FN bool empty() const { return word == none; }
  SIMT_FN std::uint32_t superblock() const { return static_cast<std::uint32_t>(word >> 32); }
  SIMT_FN std::uint32_t blocks() const { return static_cast<std::uint32_t>(word & 0xff); }
  SIMT_FN std::uint32_t position() const { return static_cast<std::uint32_t>(word >> 8 & 0x1ffff); }
  SIMT_FN bool claimed() const { return (word >> 31 & 1) != 0; }
};

class SuperblockHeap {
 public:
  static constexpr std::uint32_t empty = Layout::empty;
  static constexpr std::uint32_t busy = Layout::busy;

  SuperblockHeap() = default;
  explicit SuperblockHeap(const Layout& layout)
      : superblocks_{layout.superblocks}, unused_(layout.unused), active_(layout.active) {}

  SIMT_FN const Superblocks& all() const { return superblocks_; }

  // Reserves up to `wanted` <= Grant::most blocks of 2^log2 bytes. Returns an empty Grant if the size has no active
  // superblock and gets none.
  template <class Thread>
  SIMT_FN Grant reserve(Thread& thread, std::uint32_t log2, std::uint32_t wanted) const {
    if (superblocks_.capacity(log2) <= wanted) {
      const Grant grant = whole_superblock(thread, log2);
      if (!grant.empty()) return grant;  // otherwise the active superblock may still have blocks
    }
    const auto entry = thread.atomic(active_[log2]);
    for (;;) {
      std::uint32_t found = entry.load(simt::relaxed);
      if (found == busy) {
        thread.spin_hint();
      } else if (found == empty) {
        if (unused_.looks_empty(thread) && !any_reclaimable(thread)) return {};
        if (!entry.compare_exchange(found, busy, simt::relaxed, simt::relaxed)) continue;
        return refill(thread, log2, wanted);
      } else {
        const Grant grant = reserve_in(thread, found, log2, wanted);
        if (!grant.empty()) return grant;
        // The loop ends, because the thread that took the last block replaces the superblock, or a block is freed.
        while (entry.load(simt::relaxed) == found) {
          const State state{superblocks_.state(thread, found).load(simt::relaxed)};
          if (state.serves(log2) && state.free() > 0) break;
          thread.spin_hint();
        }
      }
    }
  }

  // Gives back blocks that the caller reserved but did not take, or whose bits it has cleared.
  template <class Thread>
  SIMT_FN void release(Thread& thread, std::uint32_t superblock, std::uint32_t blocks) const {
    if (superblocks_.give_back(thread, superblock, blocks)) unused_.push(thread, superblock);
  }

 private:
  template <class Thread>
  SIMT_FN Grant reserve_in(Thread& thread, std::uint32_t superblock, std::uint32_t log2, std::uint32_t wanted) const {
    const auto word = superblocks_.state(thread, superblock);
    const State before{word.fetch_sub(std::uint64_t{wanted}, simt::acquire)};
    const std::uint32_t granted = !before.serves(log2) || before.free() <= 0 ? 0u
                                  : static_cast<std::uint32_t>(before.free()) < wanted
                                      ? static_cast<std::uint32_t>(before.free())
                                      : wanted;
    if (granted < wanted) {
      thread.probe(simt::Step::retry);
      release(thread, superblock, wanted - granted);
    }
    if (granted == 0) return {};
    const auto free = static_cast<std::uint32_t>(before.free());
    if (free <= wanted) replace(thread, superblock, log2);
    return Grant::of(superblock, granted, before.total() - free, false);
  }

  // Replaces `superblock`, of which the caller took the last block. The caller may have seen the superblock active
  // before its reuse, and have taken the block before the superblock is in the active table again. Then the entry is
  // busy for a moment, and this function waits.
  template <class Thread>
  SIMT_FN void replace(Thread& thread, std::uint32_t superblock, std::uint32_t log2) const {
    const auto entry = thread.atomic(active_[log2]);
    std::uint32_t expected = superblock;
    while (!entry.compare_exchange(expected, busy, simt::relaxed, simt::relaxed)) {
      if (expected != busy) return;
      expected = superblock;
      thread.spin_hint();
    }
    if (superblocks_.detach(thread, superblock)) unused_.push(thread, superblock);
    static_cast<void>(refill(thread, log2, 0));
  }

  // Takes an unused superblock for an entry that the caller has set to busy, and up to `wanted` of its blocks. If
  // blocks are left, the superblock becomes active. Otherwise the entry becomes empty.
  template <class Thread>
  SIMT_FN Grant refill(Thread& thread, std::uint32_t log2, std::uint32_t wanted) const {
    const std::uint32_t capacity = superblocks_.capacity(log2);
    const std::uint32_t taken = capacity < wanted ? capacity : wanted;
    const std::uint32_t fresh = take_unused(thread);
    const bool attach = taken < capacity && fresh != SuperblockQueue::none;
    if (fresh != SuperblockQueue::none) superblocks_.format(thread, fresh, log2, taken, attach);
    thread.atomic(active_[log2]).store(attach ? fresh : empty, simt::release);
    return fresh == SuperblockQueue::none ? Grant{} : Grant::of(fresh, taken, 0, true);
  }

  // Takes an unused superblock for a group that needs all its blocks. The superblock does not become active.
  template <class Thread>
  SIMT_FN Grant whole_superblock(Thread& thread, std::uint32_t log2) const {
    const std::uint32_t fresh = take_unused(thread);
    if (fresh == SuperblockQueue::none) return {};
    const std::uint32_t capacity = superblocks_.capacity(log2);
    superblocks_.format(thread, fresh, log2, capacity, false);
    return Grant::of(fresh, capacity, 0, true);
  }

  template <class Thread>
  SIMT_FN std::uint32_t take_unused(Thread& thread) const {
    const std::uint32_t fresh = unused_.pop(thread);
    return fresh != SuperblockQueue::none ? fresh : reclaim(thread);
  }

  template <class Thread>
  SIMT_FN bool any_reclaimable(Thread& thread) const {
    for (std::uint32_t log2 = Superblocks::least_log2; log2 < superblocks_.bytes_log2; ++log2) {
      if (reclaimable(thread, thread.atomic(active_[log2]).load(simt::relaxed))) return true;
    }
    return false;
  }

  template <class Thread>
  SIMT_FN bool reclaimable(Thread& thread, std::uint32_t superblock) const {
    if (superblock >= busy) return false;
    const State state{superblocks_.state(thread, superblock).load(simt::relaxed)};
    return state.attached() && state.all_free();
  }

  // Returns an active superblock of any size if all its blocks are free. A request calls this function if the queue is
  // empty. If another thread reserves a block in between, the superblock is detached early, but no block is lost.
  template <class Thread>
  SIMT_FN std::uint32_t reclaim(Thread& thread) const {
    for (std::uint32_t log2 = Superblocks::least_log2; log2 < superblocks_.bytes_log2; ++log2) {
      const auto entry = thread.atomic(active_[log2]);
      std::uint32_t superblock = entry.load(simt::relaxed);
      if (!reclaimable(thread, superblock)) continue;
      if (!entry.compare_exchange(superblock, empty, simt::relaxed, simt::relaxed)) continue;
      if (superblocks_.detach(thread, superblock)) return superblock;
    }
    return SuperblockQueue::none;
  }

  Superblocks superblocks_;
  SuperblockQueue unused_;
  std::uint32_t* active_ = nullptr;
};

}  // namespace allocbench::kma
