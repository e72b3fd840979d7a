// A semaphore whose units are taken, returned and promised in bulk.
//
// Paper: Winter et al., Ouroboros: Virtualized Queues for Dynamic Memory Management on GPUs, ICS 2020 (the bulk
// semaphore); Gelado & Garland, Throughput-Oriented GPU Memory Allocation, PPoPP 2019, section 4.2 (where it is from).
// Idea: one addition takes units for a whole group of lanes. Whoever finds none either makes a batch of new units,
// announcing them first, or waits for units that others have announced: a thousand warps that find a class empty at
// once shall not make a thousand batches.
// Data: the units that are there, and in a second word the units that are expected and those that are in demand.
//
// Protocol. Only `units` decides who owns what. take() subtracts all that is wanted and gives back what was not there,
// so that a group may get a part; a count below zero only means that somebody is about to give back. Whoever finds
// nothing joins the demand with one addition, and its result says who makes: of all that come together, the one with
// whose demand a batch begins. So a burst makes as many batches as it needs, and all at once. Promises are a hint: a
// wrong guess costs a batch too many or a wait in vain, never a unit.
// The semaphore orders no memory: what its units stand for must be handed over with release and acquire of its own.
//
// Differs from the published word of 25 bits units, 25 bits expected and 14 bits reserved, which overflows with 16,384
// waiters and with 2^24 free units: units have a word of their own (64 bits), expected and demanded ones 32 bits each.
// Decisions are additions that are taken back when they were wrong, not compare-exchange loops, of which one succeeds
// per round trip to the second-level cache.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

struct BulkSemaphore {
  // In device memory; all bytes zero = no units. Each word has a cache line of its own: all warps hit the first one.
  struct State {
    alignas(128) std::uint64_t units;     // two's complement
    alignas(128) std::uint64_t promises;  // expected units below, demanded ones above
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

  // The same for callers who expect nothing: they look before they disturb the others.
  template <class Thread>
  SIMT_FN std::uint32_t take_if_any(Thread& thread, std::uint32_t wanted) const {
    return available(thread) > 0 ? take(thread, wanted) : 0;
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

  // Joins the demand with `need` units. True when the caller is to make the next `batch` units: its demand begins a
  // batch, or reaches into one that nobody has begun. settle() leaves the demand.
  template <class Thread>
  SIMT_FN bool demand(Thread& thread, std::uint32_t need, std::uint32_t batch) const {
    const std::uint32_t ahead =
        demanded(thread.atomic(state->promises).fetch_add(promise(need, 0), simt::relaxed)) % batch;
    return ahead == 0 || ahead + need > batch;
  }

  // Tells those who wait that there will be `surplus` units more than the caller needs.
  template <class Thread>
  SIMT_FN void announce(Thread& thread, std::uint32_t surplus) const {
    thread.atomic(state->promises).fetch_add(promise(0, surplus), simt::relaxed);
  }

  // Ends what demand() and announce() began, both told by `promised`: `made` units exist now, as many as the maker
  // could get.
  template <class Thread>
  SIMT_FN void settle(Thread& thread, std::uint64_t promised, std::uint32_t made) const {
    if (made != 0) signal(thread, made);
    if (promised != 0) thread.atomic(state->promises).fetch_sub(promised, simt::relaxed);
  }

  // Waits for units and takes up to `wanted`. 0 when nothing is expected and nobody has come to announce anything for a
  // while, or when others always came first: then the caller had better make units itself.
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
  static constexpr std::uint32_t longest_wait = 1000;  // looks of about a microsecond
  // Looks in a row without an announcement, before it is time to ask again who makes units. If it were 32, bursts of
  // mixed sizes would take up to half as long again (H100).
  static constexpr std::uint32_t patience = 8;
};

}  // namespace allocbench
