// A bulk semaphore counts three kinds of units: available units, units that a thread is making, and units for which a
// thread waits.
//
// Paper: Gelado & Garland, Throughput-Oriented GPU Memory Allocation, PPoPP 2019 (the bulk semaphore).
//
// Data: one word of 64 bits with three fields.
// * R, the low bits, is the number of units that waiting threads need.
// * E, above R, is the number of units expected from threads that make batches of units or merge.
// * C, the other bits, is the number of available units.
//
// A thread that needs N units makes a batch of B units if C + E - R is less than N. Otherwise it takes N units if they
// are available, and waits if they are not. A thread that makes a batch keeps N of its units. It adds the other B - N
// units to E. Later it moves them to C, or subtracts them from E if it could not make the batch.
//
// Semaphores count units, but do not locate them. Their operations order no accesses to memory. Operations on nodes,
// bitmaps and lists do. A thread that has a unit but cannot find its memory yet searches again.
//
// Assumed:
// * The lanes of a warp that need one unit each of the same semaphore decide together, by one compare-exchange
//   (wait_each). The result is as if the lanes decided one after the other. The paper has paths for single lanes and
//   for full warps and does not say more. With one compare-exchange per lane, the number of lost compare-exchanges per
//   lane would grow with the number of lanes (tests/allocators/bulkalloc_test.cpp).
// * R and E have 19 bits, for as many units as a device of 255 SMs has threads. E stays below R plus one batch and one
//   unit per thread that merges, because no thread makes a batch while enough units are expected. C has 26 bits with
//   its sign, so an arena must have fewer than 2^25 free slots of a size (less than 512 MiB of 16-byte slots).
//
// Differs from the paper:
// * A waiting thread stops waiting when R exceeds C + E, not when R equals C + E. R includes the thread's own units, so
//   there will be enough for all waiting threads if R equals C + E. A wait often begins in this state. With the paper's
//   listing, every waiting thread would then change the word repeatedly.
// * Unconditional changes are additions instead of compare-exchanges. A merge also takes its units by an addition, and
//   undoes the addition if another thread was faster. So C may be negative for a moment.
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

  // State is the content of the word.
  struct State {
    std::int64_t there;
    std::int64_t expected;
    std::int64_t reserved;
  };
  SIMT_HOST_FN static State state_of(std::uint64_t word) {
    return {static_cast<std::int64_t>(word) >> 2 * side_bits, static_cast<std::int64_t>(word >> side_bits & side_mask),
            static_cast<std::int64_t>(word & side_mask)};
  }

  // Shares are the actions of the lanes of a group: the first `take` lanes take a unit, the next `make` lanes make a
  // batch, and the others wait.
  struct Shares {
    std::uint32_t take;
    std::uint32_t make;
    std::uint32_t wait;

    SIMT_HOST_FN std::uint64_t change(std::uint32_t batch) const {
      return std::uint64_t{make} * (batch - 1) * expected + std::uint64_t{wait} * reserved - std::uint64_t{take} * unit;
    }
  };
  // Divides the lanes as if each requested one unit, one lane after the other. A lane makes a batch for itself and the
  // next batch - 1 lanes if all available and expected units are reserved. The other lanes take the available units,
  // and those that get none wait.
  SIMT_HOST_FN static Shares shares_of(const State& now, std::uint32_t lanes, std::uint32_t batch) {
    const std::int64_t lacking = std::int64_t{lanes} - (now.there + now.expected - now.reserved);
    const std::uint32_t make = least((lacking + batch - 1) / batch, lanes);
    const std::uint32_t take = least(now.there, lanes - make);
    return {take, make, lanes - take - make};
  }

  // Answer is the result of ask().
  // * took: The caller has the units.
  // * make: The caller makes a batch and keeps `wanted` units of it. Then it calls signal(batch - wanted, batch -
  //   wanted), or signal(0, batch - wanted) if it could not make the batch.
  // * wait: The caller calls await(wanted), and then asks again.
  enum class Answer : std::uint32_t { took, make, wait };

  // Requests `wanted` units. `seen` is the last value of the word that the caller saw, from look() or await(). The call
  // does not wait, so the lanes of a group can synchronize after the answer.
  template <class Thread>
  SIMT_FN Answer ask(Thread& thread, std::uint64_t seen, std::uint32_t wanted, std::uint32_t batch) {
    const auto atomic = thread.atomic(word);
    const std::int64_t need = wanted;
    SIMT_ROLLED
    for (;;) {
      const State now = state_of(seen);
      const bool lacking = now.there + now.expected - now.reserved < need;
      const bool there = now.there >= need;
      const std::uint64_t changed = lacking ? seen + (batch - wanted) * expected
                                    : there ? seen - wanted * unit
                                            : seen + wanted * reserved;
      if (atomic.compare_exchange(seen, changed, simt::relaxed, simt::relaxed)) {
        return lacking ? Answer::make : there ? Answer::took : Answer::wait;
      }
      thread.probe(simt::Step::retry);
    }
  }
  template <class Thread>
  SIMT_FN std::uint64_t look(Thread& thread) {
    return thread.atomic(word).load(simt::relaxed);
  }

  // Waits until the units are available, or until there will not be enough for all waiting threads. Then it ends the
  // reservation and returns the word.
  template <class Thread>
  SIMT_FN std::uint64_t await(Thread& thread, std::uint32_t wanted) {
    const auto atomic = thread.atomic(word);
    SIMT_ROLLED
    for (;;) {
      thread.spin_hint();
      const State now = state_of(atomic.load(simt::relaxed));
      if (now.there >= static_cast<std::int64_t>(wanted) || now.reserved > now.there + now.expected) break;
    }
    return atomic.fetch_sub(wanted * reserved, simt::relaxed) - wanted * reserved;
  }

  // Requests one unit for each lane of the group. Returns true to a lane that has a unit. A lane that gets false makes
  // a batch and keeps one unit of it. On return, `group` contains only the lanes with the same answer as the caller.
  template <class Thread, class Group>
  SIMT_FN bool wait_each(Thread& thread, Group& group, std::uint32_t batch) {
    std::uint32_t waits = 0;
    SIMT_ROLLED
    for (;;) {
      Shares shares{0, 0, 0};
      if (group.leader()) shares = decide(thread, group.num_threads(), batch);
      shares.take = group.broadcast(shares.take);
      shares.make = group.broadcast(shares.make);
      const std::uint32_t rank = group.thread_rank();
      const bool takes = rank < shares.take;
      const bool makes = !takes && rank < shares.take + shares.make;
      group = group.match_any(takes ? 0u : makes ? 1u : 2u);
      if (takes || makes) return takes;
      if (!group.leader()) continue;
      await(thread, group.num_threads());
      back_off(thread, waits++);
    }
  }

  template <class Thread>
  SIMT_FN bool has(Thread& thread, std::uint32_t wanted) {
    return state_of(thread.atomic(word).load(simt::relaxed)).there >= static_cast<std::int64_t>(wanted);
  }

  // Takes `wanted` units like try_wait(), but by a subtraction, for words that many threads change at the same time.
  // The caller has checked has(). Returns whether it has taken the units. If so, the expected units are reduced by
  // `no_longer_expected`.
  template <class Thread>
  SIMT_FN bool try_wait_by_addition(Thread& thread, std::uint32_t wanted, std::uint32_t no_longer_expected) {
    const std::uint64_t change = wanted * unit + no_longer_expected * expected;
    const std::uint64_t before = thread.atomic(word).fetch_sub(change, simt::relaxed);
    if (state_of(before).there >= static_cast<std::int64_t>(wanted)) return true;
    thread.atomic(word).fetch_add(change, simt::relaxed);
    return false;
  }

  // Announces units that the caller is going to signal.
  template <class Thread>
  SIMT_FN void expect(Thread& thread, std::uint32_t units) {
    thread.atomic(word).fetch_add(units * expected, simt::relaxed);
  }

  // Takes `wanted` units if they are available. Returns whether it has taken them.
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

  // Adds `made` available units, and reduces the expected units by `no_longer_expected`.
  template <class Thread>
  SIMT_FN void signal(Thread& thread, std::uint32_t made, std::uint32_t no_longer_expected) {
    thread.atomic(word).fetch_add(made * unit - no_longer_expected * expected, simt::relaxed);
  }

  // Sleeps after a lost compare-exchange or missing units, for 1 to 2^losses spin hints, but at most 1,024. The length
  // depends on the thread. Otherwise threads that lost together would lose together again.
  template <class Thread>
  SIMT_FN static void back_off(Thread& thread, std::uint32_t losses) {
    constexpr std::uint32_t longest_log2 = 10;  // hints of 20 ns
    thread.probe(simt::Step::retry);
    const std::uint32_t hash = (thread.rank_in_grid() + 1) * 0x9e3779b1u ^ losses * 0x85ebca6bu;
    const std::uint32_t hints =
        1 + (hash * 0xc2b2ae35u >> (32 - longest_log2) >> (losses < longest_log2 ? longest_log2 - losses : 0));
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < hints; ++i) thread.spin_hint();
  }

 private:
  SIMT_HOST_FN static std::uint32_t least(std::int64_t units, std::uint32_t lanes) {
    return units <= 0 ? 0 : units < lanes ? static_cast<std::uint32_t>(units) : lanes;
  }

  template <class Thread>
  SIMT_FN Shares decide(Thread& thread, std::uint32_t lanes, std::uint32_t batch) {
    const auto atomic = thread.atomic(word);
    std::uint32_t losses = 0;
    SIMT_ROLLED
    for (;;) {
      // The value that a lost exchange returned is outdated after the pause, so the word is read again.
      std::uint64_t seen = atomic.load(simt::relaxed);
      const Shares shares = shares_of(state_of(seen), lanes, batch);
      if (atomic.compare_exchange(seen, seen + shares.change(batch), simt::relaxed, simt::relaxed)) return shares;
      back_off(thread, losses++);
    }
  }
};

// These results of reserve() are not batches: the lane has no unit, or it has a unit and must search for its memory.
inline constexpr std::uint32_t no_unit = 0xffffffff;
inline constexpr std::uint32_t unit_somewhere = 0xfffffffe;

// Gets one unit for each lane of a group. The leader of each part of the group requests the units of its part. If there
// will not be enough, `make(makers, wanted)` makes a batch, of which the part keeps `wanted` units. `makers` are all
// leaders that make a batch now. `make` returns the batch, or no_unit. If it returns no_unit, each lane of the part
// takes an available unit, if there is one. No part continues before all lanes have their results (CONTRIBUTING.md,
// "Groups in groups").
template <class Thread, class Group, class Make>
SIMT_FN std::uint32_t reserve(Thread& thread, const Group& group, Semaphore& units, std::uint32_t batch,
                              const Make& make) {
  // A part has at most as many lanes as a batch has units, because one batch must be enough for it.
  const auto part = batch >= simt::warp_size ? group : group.match_any(group.thread_rank() / batch);
  const std::uint32_t wanted = part.num_threads();
  std::uint32_t mine = unit_somewhere;
  bool asks = part.leader();
  std::uint64_t seen = asks ? units.look(thread) : 0;
  SIMT_ROLLED
  do {
    const Semaphore::Answer answer = asks ? units.ask(thread, seen, wanted, batch) : Semaphore::Answer::took;
    const bool makes = answer == Semaphore::Answer::make;
    const auto makers = group.partition(makes);
    if (makes) {
      mine = make(makers, wanted);
      units.signal(thread, mine == no_unit ? 0 : batch - wanted, batch - wanted);
    }
    asks = answer == Semaphore::Answer::wait;
    if (asks) {
      seen = units.await(thread, wanted);
      thread.probe(simt::Step::retry);
    }
  } while (group.any(asks));
  mine = group.shfl_lane(mine, part.leader_lane());
  group.sync();  // the leaders' acquire covers all lanes
  return mine == no_unit && units.try_wait(thread, 1) ? unit_somewhere : mine;
}

}  // namespace allocbench::bulkalloc
