// A semaphore whose units are taken, returned and promised in bulk.
//
// Paper: Winter et al., Ouroboros: Virtualized Queues for Dynamic Memory Management on GPUs, ICS 2020 (the bulk
// semaphore); Gelado & Garland, Throughput-Oriented GPU Memory Allocation, PPoPP 2019, section 4.2 (where it is from).
// Idea: one addition takes units for a whole group of lanes. Whoever finds none either makes a batch of new units,
// announcing them first, or waits for units that others have announced: a thousand warps that find a class empty at
// once shall not make a thousand batches.
// Data: the units that are there, and in a second word the units that are expected and those that waiters count on.
//
// Protocol. Only `units` decides who owns what. take() subtracts all that is wanted and gives back what was not there,
// so that a group may get a part; a count below zero only means that somebody is about to give back. Promises are a
// hint for when to make a batch: a wrong guess costs a batch too many or a wait in vain, never a unit.
// The semaphore orders no memory: what its units stand for must be handed over with release and acquire of its own.
//
// Differs from the published word of 25 bits units, 25 bits expected and 14 bits reserved, which overflows with 16,384
// waiters and with 2^24 free units: units have a word of their own (64 bits), expected and reserved have 32 bits each.
// Decisions are additions that are taken back when they were wrong, not compare-exchange loops, of which one succeeds
// per round trip to the second-level cache.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

struct BulkSemaphore {
  // In device memory; all bytes zero = no units. Each word has a cache line of its own: all warps hit the first one.
  struct State {
    alignas(128) std::uint64_t units;     // two's complement
    alignas(128) std::uint64_t promises;  // expected units below, reserved units above
  };

  State* state;

  // Takes up to `wanted` units and returns how many. For callers who expect to be served.
  template <class Thread>
  SIMT_FN std::uint32_t take(Thread& thread, std::uint32_t wanted) const {
    const auto units = thread.atomic(state->units);
    const auto before = static_cast<std::int64_t>(units.fetch_sub(wanted, simt::relaxed));
    if (before >= static_cast<std::int64_t>(wanted)) return wanted;
    const std::uint32_t granted = before > 0 ? static_cast<std::uint32_t>(before) : 0;
    units.fetch_add(wanted - granted, simt::relaxed);
    return granted;
  }

  // The same for callers who expect nothing: they look before they disturb the others. A count below zero may hide
  // units, so they look again for a while. Else a burst of callers, who all go away empty at first and so hide what
  // the first of them make, would make many times what it needs.
  template <class Thread>
  SIMT_FN std::uint32_t take_if_any(Thread& thread, std::uint32_t wanted) const {
    for (std::uint32_t i = 0; i < most_looks; ++i) {
      const std::int64_t there = available(thread);
      if (there == 0) return 0;
      const std::uint32_t granted = there > 0 ? take(thread, wanted) : 0;
      if (granted != 0) return granted;
      thread.probe(simt::Step::retry);
      thread.spin_hint();
    }
    return 0;
  }

  template <class Thread>
  SIMT_FN void signal(Thread& thread, std::uint32_t count) const {
    thread.atomic(state->units).fetch_add(count, simt::relaxed);
  }

  // Units at this moment; negative while takers give back what they could not have.
  template <class Thread>
  SIMT_FN std::int64_t available(Thread& thread) const {
    return static_cast<std::int64_t>(thread.atomic(state->units).load(simt::relaxed));
  }

  // True while others make units.
  template <class Thread>
  SIMT_FN bool expects_units(Thread& thread) const {
    return expected(thread.atomic(state->promises).load(simt::relaxed)) != 0;
  }

  // Announces `surplus` units that the caller will make beyond the `need` of its own, unless those announced by others
  // already cover that need: false, and nothing was announced. A caller that does not want to wait `insists`.
  template <class Thread>
  SIMT_FN bool announce(Thread& thread, std::uint32_t need, std::uint32_t surplus, bool insists) const {
    const auto promises = thread.atomic(state->promises);
    const std::uint64_t before = promises.fetch_add(surplus, simt::relaxed);
    if (insists || expected(before) < std::uint64_t{reserved(before)} + need) return true;
    promises.fetch_sub(surplus, simt::relaxed);
    return false;
  }

  // Ends an announcement: of `surplus` announced units `made` exist now, as many as the maker could get.
  template <class Thread>
  SIMT_FN void settle(Thread& thread, std::uint32_t surplus, std::uint32_t made) const {
    if (made != 0) signal(thread, made);
    if (surplus != 0) thread.atomic(state->promises).fetch_sub(surplus, simt::relaxed);
  }

  // Waits until there are units, or nothing is expected any more. Bounded: where others always come first, the caller
  // had better make units itself.
  template <class Thread>
  SIMT_FN void await(Thread& thread, std::uint32_t need) const {
    const auto promises = thread.atomic(state->promises);
    std::uint64_t seen = promises.fetch_add(std::uint64_t{need} << 32, simt::relaxed);
    for (std::uint32_t i = 0; i < longest_wait; ++i) {
      if (expected(seen) == 0 || available(thread) > 0) break;
      thread.probe(simt::Step::retry);
      thread.spin_hint();
      seen = promises.load(simt::relaxed);
    }
    promises.fetch_sub(std::uint64_t{need} << 32, simt::relaxed);
  }

  static SIMT_HOST_FN std::uint32_t expected(std::uint64_t promises) { return static_cast<std::uint32_t>(promises); }
  static SIMT_HOST_FN std::uint32_t reserved(std::uint64_t promises) {
    return static_cast<std::uint32_t>(promises >> 32);
  }

 private:
  static constexpr std::uint32_t longest_wait = 1000;  // looks of about a microsecond
  static constexpr std::uint32_t most_looks = 16;
};

}  // namespace allocbench
