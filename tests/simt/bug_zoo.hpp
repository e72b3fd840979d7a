// These small kernels have planted bugs of kinds that allocators had. They show how well the strategies of the
// executor find bugs.
//
// Every kernel works on one array of words, which is zero at the start, and raises a failed check when its bug has an
// effect. All kernels pass if no other lane runs in the middle of a lane's work.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace simt::zoo {

inline constexpr std::size_t word_count = 64;

template <class Thread>
void check(Thread& thread, bool holds, const char* text, CallSite site = CallSite::here()) {
  if (!holds) thread.executor_lane().fail(FaultKind::failed_check, text, site);
}

// LostUpdate reads and writes a counter in two steps.
struct LostUpdate {
  static constexpr std::uint32_t updates = 3;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    for (std::uint32_t i = 0; i < updates; ++i) {
      const std::uint32_t seen = thread.atomic(words[0]).load(relaxed);
      thread.atomic(words[0]).store(seen + 1, relaxed);
    }
    thread.block_barrier();
    if (thread.rank_in_block() == 0) {
      check(thread, thread.atomic(words[0]).load(relaxed) == updates * thread.block_size(), "an update was lost");
    }
  }
};

// In EarlyUnlock, every thread uses a lock four times. In its second use, thread 0 releases the lock one step
// early.
struct EarlyUnlock {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    const auto lock = thread.atomic(words[0]);
    const auto owner = thread.atomic(words[1]);
    const std::uint32_t me = thread.rank_in_grid() + 1;
    for (std::uint32_t use = 0; use < 4; ++use) {
      for (std::uint32_t expected = 0; !lock.compare_exchange(expected, 1u, acquire, relaxed); expected = 0) {
        thread.spin_hint();
      }
      const bool early = use == 1 && thread.rank_in_grid() == 0;
      owner.store(me, relaxed);
      if (early) lock.store(0u, release);
      check(thread, owner.load(relaxed) == me, "two lanes hold the lock");
      if (!early) lock.store(0u, release);
    }
  }
};

// In StaleReservation, lane 0 replaces a unit, returns to it and then retires it by an exchange. Another lane, which
// found the unit before the replacement, reserves in it between the last two steps.
struct StaleReservation {
  static constexpr std::uint32_t units = 12;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    const auto active = thread.atomic(words[0]);
    if (thread.rank_in_grid() != 0) {
      for (std::uint32_t i = 0; i < 2 * units; ++i) {
        const auto state = thread.atomic(words[1 + active.load(relaxed)]);
        state.fetch_add(16u, relaxed);
        state.fetch_sub(16u, relaxed);
      }
      return;
    }
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      active.store(unit + 1, relaxed);
      for (std::uint32_t i = 0; i < 12; ++i) thread.atomic(words[word_count - 1]).fetch_add(1u, relaxed);
      const auto state = thread.atomic(words[1 + unit]);
      std::uint32_t seen = state.fetch_add(1u, relaxed) + 1;
      check(thread, state.compare_exchange(seen, 8u, relaxed, relaxed),
            "somebody reserves in a unit that was replaced");
    }
  }
};

// AbaStack is a stack of free blocks whose head has no tag.
struct AbaStack {
  static constexpr std::uint32_t blocks = 4;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    std::uint32_t* const next = words + 8;
    std::uint32_t* const taken = words + 8 + blocks + 1;
    if (thread.rank_in_block() == 0) {
      for (std::uint32_t i = 1; i < blocks; ++i) thread.atomic(next[i]).store(i + 1, relaxed);
      thread.atomic(words[0]).store(1u, release);
    }
    thread.block_barrier();
    const auto head = thread.atomic(words[0]);
    for (int round = 0; round < 3; ++round) {
      std::uint32_t block = head.load(acquire);
      while (block != 0 && !head.compare_exchange(block, thread.atomic(next[block]).load(relaxed), acq_rel, acquire)) {
      }
      if (block == 0) continue;
      check(thread, thread.atomic(taken[block]).exchange(1u, relaxed) == 0, "a block was given out twice");
      thread.atomic(taken[block]).store(0u, relaxed);
      std::uint32_t top = head.load(relaxed);
      do {
        thread.atomic(next[block]).store(top, relaxed);
      } while (!head.compare_exchange(top, block, release, relaxed));
    }
  }
};

// In RecycledPage, a page leaves its size class when its last block is freed, although a lane has just looked at its
// class (mallocMC issue 241).
struct RecycledPage {
  static constexpr std::uint32_t blocks = 8;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    const std::uint32_t mine = 1 + thread.rank_in_grid() % 2;
    for (int round = 0; round < 2; ++round) {
      for (std::uint32_t tries = 0; tries < 6; ++tries) {
        auto size_class = thread.atomic(words[(tries + thread.rank_in_grid()) % 2 * 2]);
        auto used = thread.atomic(words[(tries + thread.rank_in_grid()) % 2 * 2 + 1]);
        std::uint32_t found = 0;
        if (!size_class.compare_exchange(found, mine, acq_rel, acquire) && found != mine) continue;
        if (used.fetch_add(1u, acq_rel) < blocks) {
          check(thread, size_class.load(relaxed) == mine, "a block lies in a page of another size class");
          if (used.fetch_sub(1u, acq_rel) == 1) size_class.store(0u, release);
          break;
        }
        used.fetch_sub(1u, acq_rel);
      }
    }
  }
};

// TrustsWholeWarp assumes that all lanes of a warp come together, in one group.
struct TrustsWholeWarp {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    const auto group = thread.converged();
    if (group.leader()) thread.atomic(words[0]).fetch_add(1u, relaxed);
    group.sync();
    check(thread, thread.atomic(words[0]).load(relaxed) == 1, "a warp had two leaders");
  }
};

}  // namespace simt::zoo
