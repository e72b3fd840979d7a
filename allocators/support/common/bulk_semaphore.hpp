// BulkSemaphore is a semaphore whose units are taken, returned and promised in bulk.
//
// Paper: Winter et al., Ouroboros: Virtualized Queues for Dynamic Memory Management on GPUs, ICS 2020 (the bulk
// semaphore); Gelado & Garland, Throughput-Oriented GPU Memory Allocation, PPoPP 2019, section 4.2 (its origin).
// Idea: One addition takes units for a whole group of lanes. A group that finds no unit either announces and makes a
// batch of new units, or waits for announced units of other groups. Without announcements, if a thousand warps found no
// unit, each of them would make a batch.
//
// Data: a word with the available units, and a second word with the expected and the demanded units.
//
// Protocol: Only `units` decides which group owns a unit (units.hpp). A group that finds no unit adds its demand to the
// second word. The result of the addition shows whether the demand of this group begins a batch; if so, the group makes
// the batch. So a burst makes as many batches as it needs, all at the same time. The second word is only a hint: a
// wrong guess costs an extra batch or a useless wait, never a unit.
//
// Differs from the paper: The published word has 25 bits for units, 25 bits for expected and 14 bits for reserved
// units. It overflows with 16,384 reserved units and with 2^24 free units. In this form units have a separate word of
// 64 bits, and expected and demanded units have 32 bits each. Instead of compare-exchange loops, threads use additions
// and undo them if they were wrong.
#pragma once

#include "allocators/support/common/units.hpp"
#include "simt/simt.hpp"

namespace allocbench {

struct BulkSemaphore {
  // State lies in device memory. If all bytes are zero, there are no units. Each word has its own cache line, because
  // all warps access the first word.
  struct State {
    alignas(128) std::uint64_t units;     // available units in two's complement
    alignas(128) std::uint64_t promises;  // expected units in the lower half, demanded units in the upper half
  };

  State* state;

  // Takes up to `wanted` units and returns how many. Callers expect to be served, so take() does not check first.
  template <class Thread>
  SIMT_FN std::uint32_t take(Thread& thread, std::uint32_t wanted) const {
    return take_units(thread, state->units, wanted);
  }

  // Takes up to `wanted` units and returns how many. Callers do not expect to be served, so this function first checks
  // whether there are units.
  template <class Thread>
  SIMT_FN std::uint32_t take_if_any(Thread& thread, std::uint32_t wanted) const {
    return take_units_if_any(thread, state->units, wanted);
  }

  template <class Thread>
  SIMT_FN void signal(Thread& thread, std::uint32_t count) const {
    thread.atomic(state->units).fetch_add(count, simt::relaxed);
  }

  // Returns the current number of units. The number may be too low, even negative, until takers have added back the
  // units that were not available.
  template <class Thread>
  SIMT_FN std::int64_t available(Thread& thread) const {
    return static_cast<std::int64_t>(thread.atomic(state->units).load(simt::relaxed));
  }

  // Returns whether any group has announced units that it has not settled yet.
  template <class Thread>
  SIMT_FN bool expects_units(Thread& thread) const {
    return expected(thread.atomic(state->promises).load(simt::relaxed)) != 0;
  }

  // Adds `need` units to the demand. Returns true if the caller must make the next `batch` units, because its demand
  // begins a batch or extends into one that no thread makes yet. settle() ends the demand.
  template <class Thread>
  SIMT_FN bool demand(Thread& thread, std::uint32_t need, std::uint32_t batch) const {
    const std::uint32_t ahead =
        demanded(thread.atomic(state->promises).fetch_add(promise(need, 0), simt::relaxed)) % batch;
    return ahead == 0 || ahead + need > batch;
  }

  // Announces to waiting groups that the caller makes `surplus` units in addition to its own.
  template <class Thread>
  SIMT_FN void announce(Thread& thread, std::uint32_t surplus) const {
    thread.atomic(state->promises).fetch_add(promise(0, surplus), simt::relaxed);
  }

  // Signals `made` new units, and ends the demand and the announcement in `promised`.
  template <class Thread>
  SIMT_FN void settle(Thread& thread, std::uint64_t promised, std::uint32_t made) const {
    if (made != 0) signal(thread, made);
    if (promised != 0) thread.atomic(state->promises).fetch_sub(promised, simt::relaxed);
  }

  // Waits for units and takes up to `wanted`. Returns 0 if no units are announced in `patience` checks in a row,
  // or if the caller gets none in `longest_wait` checks. Then the caller should make units itself.
  template <class Thread>
  SIMT_FN std::uint32_t await(Thread& thread, std::uint32_t wanted) const {
    std::uint32_t idle = 0;
    for (std::uint32_t i = 0; i < longest_wait && idle < patience; ++i) {
      if (available(thread) > 0) {
        const std::uint32_t granted = take(thread, wanted);
        if (granted != 0) return granted;
      }
      idle = expects_units(thread) ? 0 : idle + 1;
      thread.probe(simt::Step::retry);
      thread.spin_hint();
    }
    return 0;
  }

  static SIMT_HOST_FN std::uint64_t promise(std::uint32_t need, std::uint32_t surplus) {
    return std::uint64_t{need} << 32 | surplus;
  }
  static SIMT_HOST_FN std::uint32_t expected(std::uint64_t promises) { return static_cast<std::uint32_t>(promises); }
  static SIMT_HOST_FN std::uint32_t demanded(std::uint64_t promises) {
    return static_cast<std::uint32_t>(promises >> 32);
  }

 private:
  static constexpr std::uint32_t longest_wait = 1000;  // checks of about a microsecond each
  // After this number of checks in a row without an announcement, await() returns, so that the caller can make units.
  // More checks make bursts of mixed sizes slower.
  static constexpr std::uint32_t patience = 8;
};

}  // namespace allocbench
