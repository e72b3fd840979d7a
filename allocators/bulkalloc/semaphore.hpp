// A bulk semaphore: units that are there, units that somebody is making, and units for which somebody waits.
//
// Paper: Gelado & Garland, Throughput-Oriented GPU Memory Allocation, PPoPP 2019 (the bulk semaphore).
// Data: one word of 64 bits.
//   R  low bits   units that waiting threads need
//   E  above R    units that are expected: threads make batches of units and keep some of each for themselves
//   C  the rest   units that are there
// A thread that needs N units takes them, or waits if C + E - R says that there will be enough, or else has to make a
// batch of B: it adds B - N to E and later moves them to C, or takes them back if it could make none.
//
// Semaphores say how many units there are, not where. They order no memory: what a unit stands for is handed over by
// words of its own, and a thread that has a unit but does not see what it stands for yet looks again.
// Assumed: the widths. R and E have 19 bits: as many units as a device of 264 SMs has threads. E stays below R plus one
// batch, because nobody makes a batch while enough units are expected. C has 26 bits, so an arena may have up to 2^26
// free slots of a size: 1 GiB of the smallest.
// Differs from the paper: additions that depend on nothing are additions, not compare-exchanges.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::bulkalloc {

struct Semaphore {
  static constexpr std::uint32_t side_bits = 19;
  static constexpr std::uint64_t reserved = 1;
  static constexpr std::uint64_t expected = std::uint64_t{1} << side_bits;
  static constexpr std::uint64_t unit = std::uint64_t{1} << 2 * side_bits;
  static constexpr std::uint64_t side_mask = expected - 1;

  std::uint64_t word;

  // What one word says.
  struct State {
    std::int64_t there;
    std::int64_t expected;
    std::int64_t reserved;
  };
  SIMT_HOST_FN static State state_of(std::uint64_t word) {
    return {static_cast<std::int64_t>(word >> 2 * side_bits), static_cast<std::int64_t>(word >> side_bits & side_mask),
            static_cast<std::int64_t>(word & side_mask)};
  }

  // True: the caller has `wanted` units. False: the caller makes a batch, keeps `wanted` units of it, and ends that by
  // signal(batch - wanted, batch - wanted), or by signal(0, batch - wanted) if it could not.
  template <class Thread>
  SIMT_FN bool wait(Thread& thread, std::uint32_t wanted, std::uint32_t batch) {
    const auto atomic = thread.atomic(word);
    const std::int64_t need = wanted;
    std::uint64_t seen = atomic.load(simt::relaxed);
    SIMT_ROLLED
    for (;;) {
      const State now = state_of(seen);
      if (now.there + now.expected - now.reserved < need) {
        if (atomic.compare_exchange(seen, seen + (batch - wanted) * expected, simt::relaxed, simt::relaxed)) {
          return false;
        }
      } else if (now.there >= need) {
        if (atomic.compare_exchange(seen, seen - wanted * unit, simt::relaxed, simt::relaxed)) return true;
      } else if (atomic.compare_exchange(seen, seen + wanted * reserved, simt::relaxed, simt::relaxed)) {
        seen = await(thread, wanted);
      }
      thread.probe(simt::Step::retry);
    }
  }

  // Takes `wanted` units if they are there.
  template <class Thread>
  SIMT_FN bool try_wait(Thread& thread, std::uint32_t wanted) {
    const auto atomic = thread.atomic(word);
    std::uint64_t seen = atomic.load(simt::relaxed);
    while (state_of(seen).there >= static_cast<std::int64_t>(wanted)) {
      if (atomic.compare_exchange(seen, seen - wanted * unit, simt::relaxed, simt::relaxed)) return true;
      thread.probe(simt::Step::retry);
    }
    return false;
  }

  // `made` units are there now, and `no_longer_expected` fewer are expected.
  template <class Thread>
  SIMT_FN void signal(Thread& thread, std::uint32_t made, std::uint32_t no_longer_expected) {
    thread.atomic(word).fetch_add(made * unit - no_longer_expected * expected, simt::relaxed);
  }

 private:
  // Waits until the units are there or are not expected any more; ends the reservation. Returns the word.
  template <class Thread>
  SIMT_FN std::uint64_t await(Thread& thread, std::uint32_t wanted) {
    const auto atomic = thread.atomic(word);
    SIMT_ROLLED
    for (;;) {
      thread.spin_hint();
      const State now = state_of(atomic.load(simt::relaxed));
      if (now.there >= static_cast<std::int64_t>(wanted) || now.reserved >= now.there + now.expected) break;
    }
    return atomic.fetch_sub(wanted * reserved, simt::relaxed) - wanted * reserved;
  }
};

// What reserve() says to a lane, if not what was made for it.
inline constexpr std::uint32_t no_unit = 0xffffffff;
inline constexpr std::uint32_t unit_somewhere = 0xfffffffe;

// One unit for each lane of a group, which asks for them together. Where none are to be had, `make(wanted)` makes a
// batch, of which the group keeps `wanted` units, and says what it is, or no_unit. In that case each lane takes a unit
// that is there.
template <class Thread, class Group, class Make>
SIMT_FN std::uint32_t reserve(Thread& thread, const Group& group, Semaphore& units, std::uint32_t batch,
                              const Make& make) {
  // Nobody can keep more of a batch than it has.
  const auto part = batch >= simt::warp_size ? group : group.match_any(group.thread_rank() / batch);
  const std::uint32_t wanted = part.num_threads();
  std::uint32_t mine = unit_somewhere;
  if (part.leader() && !units.wait(thread, wanted, batch)) {
    mine = make(wanted);
    units.signal(thread, mine == no_unit ? 0 : batch - wanted, batch - wanted);
  }
  mine = part.broadcast(mine);
  part.sync();  // what the leader made holds for all
  return mine == no_unit && units.try_wait(thread, 1) ? unit_somewhere : mine;
}

}  // namespace allocbench::bulkalloc
