// A bulk semaphore counts three kinds of units: those that are there, those that a thread is making, and those that a
// thread waits for.
//
// Paper: Gelado & Garland, Throughput-Oriented GPU Memory Allocation, PPoPP 2019 (the bulk semaphore).
// Data: one word of 64 bits.
//   R  low bits   units that waiting threads need
//   E  above R    units that are expected: threads make batches of units and keep some of each for themselves, or merge
//   C  the rest   units that are there
// A thread that needs N units takes them if they are there. It waits if C + E - R says that there will be enough.
// Otherwise it makes a batch of B units: it adds B - N to E and later moves them to C, or takes them back if it could
// make none.
//
// Semaphores say how many units there are, not where. They order no memory: what a unit stands for is handed over by
// words of its own, and a thread that has a unit but does not see what it stands for yet looks again.
// Assumed: lanes of a warp that need a unit each of the same semaphore decide by one compare-exchange what each of them
// would have decided by its own (wait_each). The paper has paths for single lanes and for full warps and does not say
// more. With a compare-exchange per lane, 2,048 lanes that ask at the same time lose 5,400 of them each, and the number
// grows with the lanes (tests/allocators/fidelity/bulkalloc_test.cpp).
// Assumed: the widths. R and E have 19 bits: as many units as a device of 264 SMs has threads. E stays below R plus one
// batch and one unit per thread that merges, because no thread makes a batch while enough units are expected. C has 26
// bits with its sign, so an arena may have up to 2^25 free slots of a size: 512 MiB of the smallest. Differs from the
// paper:
//   * A waiting thread stops waiting when R is above C + E, not when it reaches it. R counts the thread itself, so with
//     R = C + E there will be enough for all waiting threads. A wait often begins there. By the paper's listing every
//     waiting thread would then change the word again and again.
//   * Additions that depend on nothing are additions, not compare-exchanges. A merge takes its units by an addition,
//     too, and takes it back if another thread was faster: C may be below zero for a moment.
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
    return {static_cast<std::int64_t>(word) >> 2 * side_bits, static_cast<std::int64_t>(word >> side_bits & side_mask),
            static_cast<std::int64_t>(word & side_mask)};
  }

  // What the lanes of a group do: the first `take` have a unit, the next `make` make a batch, the others wait.
  struct Shares {
    std::uint32_t take;
    std::uint32_t make;
    std::uint32_t wait;

    SIMT_HOST_FN std::uint64_t change(std::uint32_t batch) const {
      return std::uint64_t{make} * (batch - 1) * expected + std::uint64_t{wait} * reserved - std::uint64_t{take} * unit;
    }
  };
  // The result is as if the lanes asked one after the other, for a unit each: a lane makes a batch, for itself and for
  // the next batch - 1 lanes, if all units that are there or expected are reserved. Of the other lanes, each takes a
  // unit if it finds one.
  SIMT_HOST_FN static Shares shares_of(const State& now, std::uint32_t lanes, std::uint32_t batch) {
    const std::int64_t lacking = std::int64_t{lanes} - (now.there + now.expected - now.reserved);
    const std::uint32_t make = least((lacking + batch - 1) / batch, lanes);
    const std::uint32_t take = least(now.there, lanes - make);
    return {take, make, lanes - take - make};
  }

  // What ask() says.
  //   took  The caller has the units.
  //   make  It makes a batch and keeps `wanted` units of it. It ends that by signal(batch - wanted, batch - wanted),
  //         or by signal(0, batch - wanted) if it could not.
  //   wait  It calls await(wanted), and then asks again.
  enum class Answer : std::uint32_t { took, make, wait };

  // `seen` is what the caller last saw of the word: by look() or await(). Does not wait, so the lanes of a group can
  // meet between the answer and what follows from it.
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

  // Waits until the units are there or there will not be enough for all that wait; ends the reservation. Returns the
  // word.
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

  // The same for one unit for each lane of the group. On return the group has the lanes with the caller's answer. Each
  // lane whose answer is false makes a batch and keeps one unit of it.
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

  // As try_wait, by additions: for words that very many threads change at the same time. The caller has looked with
  // has(). If it gets the units, `no_longer_expected` fewer are expected.
  template <class Thread>
  SIMT_FN bool try_wait_by_addition(Thread& thread, std::uint32_t wanted, std::uint32_t no_longer_expected) {
    const std::uint64_t change = wanted * unit + no_longer_expected * expected;
    const std::uint64_t before = thread.atomic(word).fetch_sub(change, simt::relaxed);
    if (state_of(before).there >= static_cast<std::int64_t>(wanted)) return true;
    thread.atomic(word).fetch_add(change, simt::relaxed);
    return false;
  }

  // Units that the caller is going to signal.
  template <class Thread>
  SIMT_FN void expect(Thread& thread, std::uint32_t units) {
    thread.atomic(word).fetch_add(units * expected, simt::relaxed);
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

  // After a compare-exchange was lost or units were not there: sleeps, on average twice as long as after the one
  // before. The length depends on the thread, because threads that lost together would lose together again.
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
      // Read again after each pause: what the lost exchange saw is old by then.
      std::uint64_t seen = atomic.load(simt::relaxed);
      const Shares shares = shares_of(state_of(seen), lanes, batch);
      if (atomic.compare_exchange(seen, seen + shares.change(batch), simt::relaxed, simt::relaxed)) return shares;
      back_off(thread, losses++);
    }
  }
};

// What reserve() says to a lane, if not what was made for it.
inline constexpr std::uint32_t no_unit = 0xffffffff;
inline constexpr std::uint32_t unit_somewhere = 0xfffffffe;

// One unit for each lane of a group, which asks for them together. If there are none, `make(makers, wanted)` makes a
// batch. The caller's part of the group keeps `wanted` units of it. `make` returns the batch, or no_unit. In that case
// each lane takes a unit that is there. The group votes which lanes are `makers`, those that make a batch now, and no
// part of it goes on before all have units (CONTRIBUTING.md, "Groups in groups").
template <class Thread, class Group, class Make>
SIMT_FN std::uint32_t reserve(Thread& thread, const Group& group, Semaphore& units, std::uint32_t batch,
                              const Make& make) {
  // A lane can keep at most a whole batch.
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
  group.sync();  // what the leaders made holds for all
  return mine == no_unit && units.try_wait(thread, 1) ? unit_somewhere : mine;
}

}  // namespace allocbench::bulkalloc
