// PackedSemaphore is the bulk semaphore of Ouroboros in one word of 64 bits.
//
// Fields of the word:
// * Bits 0-24 have the number of free pages plus 2^24. A value below 2^24 means a negative number.
// * Bits 25-49 have the number of pages that other groups are making ("expected").
// * Bits 50-63 have the number of pages that waiting groups have reserved.
//
// The authors' comment promises 21 bits for each field. Only 14 bits are left for reserved pages, so this field wraps
// above 16,383. This only changes which lanes wait and which make pages. The number of free pages overflows at 2^24
// free pages of one class.
//
// take: The caller loads the word. If enough pages are free, it subtracts the wanted pages, and adds them back if
// another caller was faster. A caller that has got no pages decides by the word, and writes the decision by a
// compare-exchange: If the free and expected pages minus the reserved ones are too few, it announces the pages of a
// chunk and makes them. Otherwise it takes pages if enough are free; if not, it reserves pages and waits.
//
// wait: The caller waits until enough pages are free, or until the reserved pages reach the sum of free and expected
// pages.
//
// The word is as published. We add the case of an exhausted pool. A group that got no chunk undoes its announcement and
// waits while others still make pages. Then it takes the remaining pages, if any, for some of its lanes.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::ouroboros::published {

// Sleeps longer after more failed checks, up to a bound. The authors' code sleeps 10 ns times the number of the check.
template <class Thread>
SIMT_FN void back_off(Thread& thread, std::uint32_t look) {
  constexpr std::uint32_t longest = 64;  // hints of 20 ns
  thread.probe(simt::Step::retry);
  SIMT_ROLLED
  for (std::uint32_t i = 0; i <= look / 2 && i < longest; ++i) thread.spin_hint();
}

struct PackedSemaphore {
  static constexpr std::uint64_t field = (std::uint64_t{1} << 25) - 1;
  static constexpr std::uint64_t none = std::uint64_t{1} << 24;  // value of the word without pages
  static constexpr std::uint32_t most_rounds = 1u << 20;

  static SIMT_HOST_FN std::int32_t count(std::uint64_t word) {
    return static_cast<std::int32_t>(word & field) - (1 << 24);
  }
  static SIMT_HOST_FN std::int32_t expected(std::uint64_t word) {
    return static_cast<std::int32_t>(word >> 25 & field);
  }
  static SIMT_HOST_FN std::int32_t reserved(std::uint64_t word) { return static_cast<std::int32_t>(word >> 50); }
  static SIMT_HOST_FN std::uint64_t as_expected(std::uint32_t pages) { return std::uint64_t{pages} << 25; }
  static SIMT_HOST_FN std::uint64_t as_reserved(std::uint32_t pages) { return std::uint64_t{pages} << 50; }

  std::uint64_t* word;

  template <class Thread>
  SIMT_FN void signal(Thread& thread, std::uint32_t pages) const {
    thread.atomic(*word).fetch_add(pages, simt::relaxed);
  }
  // Turns expected pages into free pages.
  template <class Thread>
  SIMT_FN void signal_expected(Thread& thread, std::uint32_t pages) const {
    thread.atomic(*word).fetch_add(pages - as_expected(pages), simt::relaxed);
  }
  // Subtracts `pages` free pages. Returns false and subtracts none if fewer are free.
  template <class Thread>
  SIMT_FN bool try_reduce(Thread& thread, std::uint32_t pages) const {
    if (count(thread.atomic(*word).fetch_sub(pages, simt::relaxed)) >= static_cast<std::int32_t>(pages)) return true;
    signal(thread, pages);
    return false;
  }

  // Makes the first step of a take. Returns true if the pages were available. Otherwise `now` is the last value of the
  // word.
  template <class Thread>
  SIMT_FN bool take_at_once(Thread& thread, std::uint32_t wanted, std::uint64_t& now) const {
    const auto semaphore = thread.atomic(*word);
    now = semaphore.load(simt::relaxed);
    if (count(now) < static_cast<std::int32_t>(wanted)) return false;
    now = semaphore.fetch_sub(wanted, simt::relaxed);
    if (count(now) >= static_cast<std::int32_t>(wanted)) return true;
    now = semaphore.fetch_add(wanted, simt::relaxed) + wanted;
    return false;
  }

  // Continues after take_at_once() has failed. Returns the number of pages that the caller gets. `make()` makes the
  // announced `per_chunk` pages of a chunk and signals them; it returns false if there is no chunk.
  //
  // A single loop contains all steps, and its passes do not wait. The hardware may run the code behind an inner loop
  // only after all lanes of a warp have left it. Two warps that each request two classes could then wait for each
  // other's pages.
  template <class Thread, class Make>
  SIMT_FN std::uint32_t take(Thread& thread, std::uint32_t wanted, std::uint32_t per_chunk, std::uint64_t now,
                             Make make) const {
    const auto semaphore = thread.atomic(*word);
    const auto need = static_cast<std::int32_t>(wanted);
    bool waits = false;
    bool dry = false;
    std::uint32_t looks = 0;
    for (std::uint32_t round = 0; round < most_rounds; ++round) {
      if (waits) {
        now = semaphore.load(simt::relaxed);
        if (count(now) < need && reserved(now) < count(now) + expected(now)) {
          back_off(thread, ++looks);
          continue;
        }
        semaphore.fetch_sub(as_reserved(wanted), simt::relaxed);
        waits = false;
      }
      if (round != 0 && take_at_once(thread, wanted, now)) return wanted;
      switch (decide(thread, wanted, per_chunk, dry, now)) {
        case Move::take:
          return wanted;
        case Move::take_rest:
          return static_cast<std::uint32_t>(count(now));
        case Move::give_up:
          return 0;
        case Move::wait:
          waits = true;
          break;
        case Move::make:
          if (make()) break;
          semaphore.fetch_sub(as_expected(per_chunk), simt::relaxed);
          dry = true;
          break;
        case Move::look_again:
          back_off(thread, ++looks);
          break;
      }
    }
    if (waits) semaphore.fetch_sub(as_reserved(wanted), simt::relaxed);
    return 0;
  }

 private:
  enum class Move : std::uint32_t { take, take_rest, give_up, wait, make, look_again };

  // Decides what the caller does next, and changes the word if necessary. `now` is the word's value before the change.
  template <class Thread>
  SIMT_FN Move decide(Thread& thread, std::uint32_t wanted, std::uint32_t per_chunk, bool dry,
                      std::uint64_t& now) const {
    const auto semaphore = thread.atomic(*word);
    const auto need = static_cast<std::int32_t>(wanted);
    for (;;) {
      const std::int32_t there = count(now);
      Move move = Move::take;
      std::uint64_t desired = now - wanted;
      if (!dry && there + expected(now) - reserved(now) < need) {
        move = Move::make;
        desired = now + as_expected(per_chunk);
      } else if (there >= need) {
      } else if (!dry) {
        move = Move::wait;
        desired = now + as_reserved(wanted);
      } else if (expected(now) != 0) {
        return Move::look_again;
      } else if (there <= 0) {
        return Move::give_up;
      } else {
        move = Move::take_rest;
        desired = now - static_cast<std::uint32_t>(there);
      }
      if (semaphore.compare_exchange(now, desired, simt::relaxed, simt::relaxed)) return move;
    }
  }
};

}  // namespace allocbench::ouroboros::published
