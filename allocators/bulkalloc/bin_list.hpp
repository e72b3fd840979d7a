// BinList holds the bins of one size in an arena. Lanes claim slots of these bins under read-copy-update (RCU,
// rcu.hpp), while other lanes add and remove bins.
//
// Paper: Gelado & Garland, PPoPP 2019 (UAlloc). A request for slots has two stages (bulkalloc.hpp).
//
// Stage 1 is a semaphore that counts slots. A batch has the slots of one bin. In stage 2, a reader of the arena's RCU
// walks the list and lowers a bin's counter of free slots, but not below zero. The thread that takes the last free slot
// unlinks the bin, unless slots have become free or another thread has unlinked it meanwhile. The bin may be linked
// again when no reader can still use it. A free that leaves all slots of a bin free usually retires the bin: it unlinks
// the bin and returns it to its chunk. A claim lowers the counter before it searches for a clear bit, and a free raises
// the counter after it has cleared the bit. So a claim always finds a clear bit.
//
// These threads may access a bin: its maker, readers that found it in the list, owners of its slots, the holder of the
// list's lock, the thread that calls settle() for an unlinked bin, and the thread that retires it. This last thread
// sets the counter to zero and then owns the bin. Places and links of listed bins change only under the lock of the
// list.
//
// Assumed: A free that does not retire the bin adds one unit per slot to the semaphore before it raises the bin's
// counter. A free of the last slots in use first tries to take the units of the bin's other slots from the semaphore.
// If it gets them and the counter has not changed, it retires the bin. If unfinished claims hold some of these units,
// the free checks at most `patience` times. After that, it adds its units and does not retire the bin. A lane that has
// a unit but finds no slot yet walks the list again.
#pragma once

#include "allocators/bulkalloc/layout.hpp"
#include "allocators/bulkalloc/rcu.hpp"
#include "allocators/bulkalloc/semaphore.hpp"
#include "allocators/support/common/lock.hpp"

namespace allocbench::bulkalloc {

enum class Place : std::uint32_t {
  unlisted,
  listed,
  leaving,  // unlinked, but readers may still use the bin
  retired   // all slots are free; the bin returns to its chunk when no reader can use it
};

struct BinList {
  static constexpr std::uint32_t patience = 64;

  // All bytes are zero at first.
  struct State {
    alignas(128) Semaphore slots;
    std::uint32_t first;  // page of the first bin plus 1, or 0 if there is none
    std::uint32_t lock;
  };

  Layout layout;
  State* state = nullptr;
  std::uint32_t slots_of_bin = 0;

  struct Claim {
    std::uint32_t page;
    std::uint32_t slots;
    bool last;  // the claim took the last free slots, so the caller unlinks the bin
  };

  // Waits for a listed bin with free slots, and claims at most `wanted` of these slots. The caller has `wanted` units.
  template <class Thread>
  SIMT_FN Claim claim(Thread& thread, Rcu& rcu, std::uint32_t wanted) const {
    SIMT_ROLLED
    for (;;) {
      const std::uint32_t epoch = rcu.enter(thread);
      const Claim mine = walk(thread, wanted);
      rcu.leave(thread, epoch);
      if (mine.slots != 0) return mine;
      thread.spin_hint();
    }
  }

  // Takes a bit for one claimed slot. The search begins at a slot that depends on `rank`.
  template <class Thread>
  SIMT_FN std::uint32_t take_slot(Thread& thread, std::uint32_t page, std::uint32_t rank) const {
    Bin& bin = layout.bin(page);
    const std::uint32_t words = (slots_of_bin + 31) / 32;
    std::uint32_t slot = slots_of_bin >= 32 ? rank * (slots_of_bin / 32) : rank % slots_of_bin;
    SIMT_ROLLED
    for (;;) {
      const std::uint32_t bit = 1u << slot % 32;
      const std::uint32_t seen = thread.atomic(bin.bits[slot / 32]).fetch_or(bit, simt::acquire);
      thread.probe(simt::Step::attempt);
      if ((seen & bit) == 0) return slot;
      const std::uint32_t clear = simt::count_trailing_zeros(~seen);
      const std::uint32_t word = clear < 32 ? slot / 32 : slot / 32 + 1 < words ? slot / 32 + 1 : 0;
      slot = word * 32 + clear % 32;
    }
  }

  template <class Thread>
  SIMT_FN void clear_slot(Thread& thread, std::uint32_t page, std::uint32_t slot) const {
    thread.atomic(layout.bin(page).bits[slot / 32]).fetch_and(~(1u << slot % 32), simt::release);
  }

  // Adds a new bin. Its maker keeps `kept` slots. A bin whose maker keeps all slots is not listed.
  template <class Thread>
  SIMT_FN void add(Thread& thread, std::uint32_t page, std::uint32_t list, std::uint32_t kept) const {
    Bin& bin = layout.bin(page);
    clear_bits(thread, bin.bits, 0, slots_of_bin);
    thread.atomic(bin.free).store(slots_of_bin - kept, simt::relaxed);
    thread.atomic(bin.list).store(list, simt::relaxed);
    if (kept == slots_of_bin) return set_place(thread, bin, Place::unlisted);
    acquire(thread);
    insert(thread, page);
    unlock(thread, state->lock);
  }

  // Unlinks the bin if it is listed and still has no free slots. Returns true if it unlinked the bin. Then readers may
  // still use the bin, and the caller must call settle() for the bin after they have left.
  template <class Thread>
  SIMT_FN bool unlink_exhausted(Thread& thread, std::uint32_t page) const {
    Bin& bin = layout.bin(page);
    acquire(thread);
    const bool leaves = thread.atomic(bin.free).load(simt::relaxed) == 0 && place(thread, bin) == Place::listed;
    if (leaves) remove(thread, page, Place::leaving);
    unlock(thread, state->lock);
    return leaves;
  }

  // Fate is what the caller of give() must do with the bin: keep it, return it to its chunk after the readers have
  // left, or return it at once.
  enum class Fate { stays, retires_after_readers, retires };

  // Returns slots to the bin. The caller has cleared their bits.
  template <class Thread>
  SIMT_FN Fate give(Thread& thread, std::uint32_t page, std::uint32_t slots) const {
    Bin& bin = layout.bin(page);
    const auto free = thread.atomic(bin.free);
    std::uint32_t unsignalled = slots;
    std::uint32_t looks = 0;
    std::uint32_t seen = free.load(simt::relaxed);
    SIMT_ROLLED
    for (;;) {
      if (seen + slots == slots_of_bin && looks < patience) {
        const std::uint32_t units = slots_of_bin - unsignalled;
        if (units != 0 && !state->slots.try_wait(thread, units)) {
          ++looks;
          thread.spin_hint();
          seen = free.load(simt::relaxed);
          continue;
        }
        if (free.compare_exchange(seen, 0, simt::acq_rel, simt::relaxed)) return retire(thread, page);
        if (units != 0) state->slots.signal(thread, units, 0);
        continue;
      }
      if (unsignalled != 0) state->slots.signal(thread, slots, 0);
      unsignalled = 0;
      if (seen == 0) {
        // The lock covers the exchange and the insertion. Otherwise another free could retire the bin between the two.
        acquire(thread);
        const bool given = free.compare_exchange(seen, slots, simt::acq_rel, simt::relaxed);
        if (given && place(thread, bin) == Place::unlisted) insert(thread, page);
        unlock(thread, state->lock);
        if (given) return Fate::stays;
      } else if (free.compare_exchange(seen, seen + slots, simt::acq_rel, simt::relaxed)) {
        return Fate::stays;
      }
      thread.probe(simt::Step::retry);
    }
  }

  // Decides what happens to an unlinked bin that all readers have left. Returns true if the bin retires; the caller
  // then returns it to its chunk. Otherwise a bin with free slots is listed again.
  template <class Thread>
  SIMT_FN bool settle(Thread& thread, std::uint32_t page) const {
    Bin& bin = layout.bin(page);
    acquire(thread);
    const bool retires = place(thread, bin) == Place::retired;
    if (!retires) {
      set_place(thread, bin, Place::unlisted);
      if (thread.atomic(bin.free).load(simt::relaxed) != 0) insert(thread, page);
    }
    unlock(thread, state->lock);
    return retires;
  }

 private:
  template <class Thread>
  SIMT_FN void acquire(Thread& thread) const {
    while (!try_lock(thread, state->lock)) thread.spin_hint();
  }
  template <class Thread>
  SIMT_FN Place place(Thread& thread, Bin& bin) const {
    return static_cast<Place>(thread.atomic(bin.place).load(simt::relaxed));
  }
  template <class Thread>
  SIMT_FN void set_place(Thread& thread, Bin& bin, Place place) const {
    thread.atomic(bin.place).store(static_cast<std::uint32_t>(place), simt::relaxed);
  }

  template <class Thread>
  SIMT_FN Claim walk(Thread& thread, std::uint32_t wanted) const {
    std::uint32_t link = thread.atomic(state->first).load(simt::acquire);
    SIMT_ROLLED
    while (link != 0) {
      Bin& bin = layout.bin(link - 1);
      const auto free = thread.atomic(bin.free);
      std::uint32_t seen = free.load(simt::relaxed);
      while (seen != 0) {
        const std::uint32_t slots = seen < wanted ? seen : wanted;
        if (free.compare_exchange(seen, seen - slots, simt::acq_rel, simt::relaxed)) {
          return {link - 1, slots, seen == slots};
        }
        thread.probe(simt::Step::retry);
      }
      link = thread.atomic(bin.next).load(simt::acquire);
      thread.probe(simt::Step::walk);
    }
    return {0, 0, false};
  }

  // Retires a bin that the caller owns.
  template <class Thread>
  SIMT_FN Fate retire(Thread& thread, std::uint32_t page) const {
    Bin& bin = layout.bin(page);
    acquire(thread);
    const Place was = place(thread, bin);
    if (was == Place::listed) {
      remove(thread, page, Place::retired);
    } else {
      set_place(thread, bin, Place::retired);
    }
    unlock(thread, state->lock);
    // settle() handles a bin that is leaving.
    if (was == Place::leaving) return Fate::stays;
    return was == Place::listed ? Fate::retires_after_readers : Fate::retires;
  }

  template <class Thread>
  SIMT_FN void insert(Thread& thread, std::uint32_t page) const {
    Bin& bin = layout.bin(page);
    const std::uint32_t next = thread.atomic(state->first).load(simt::relaxed);
    thread.atomic(bin.next).store(next, simt::relaxed);
    thread.atomic(bin.previous).store(0, simt::relaxed);
    set_place(thread, bin, Place::listed);
    if (next != 0) thread.atomic(layout.bin(next - 1).previous).store(page + 1, simt::relaxed);
    thread.atomic(state->first).store(page + 1, simt::release);
  }

  // Removes the bin from the list. The bin keeps its link to the next bin, because readers may still follow this link.
  template <class Thread>
  SIMT_FN void remove(Thread& thread, std::uint32_t page, Place place) const {
    Bin& bin = layout.bin(page);
    const std::uint32_t next = thread.atomic(bin.next).load(simt::relaxed);
    const std::uint32_t previous = thread.atomic(bin.previous).load(simt::relaxed);
    thread.atomic(previous == 0 ? state->first : layout.bin(previous - 1).next).store(next, simt::release);
    if (next != 0) thread.atomic(layout.bin(next - 1).previous).store(previous, simt::relaxed);
    set_place(thread, bin, place);
  }
};

}  // namespace allocbench::bulkalloc
