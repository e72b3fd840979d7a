// The guard of a slot is a reference counter. Each time it is zero, at most one lane changes it to invalid.
//
// llvm-project, libc/src/__support/GPU/allocator.cpp (2026). The counter is the number of reservations of chunks:
// * Bits 0-29 count the chunks in use and the unfinished claims.
// * Bit 30 means "helped": a reader has found zero and made the counter invalid for the lane that lowered it.
// * Bit 31 means "invalid": the slot has no slab, or a lane is making or returning the slab.
//
// The lane that lowers the counter to zero makes it invalid and then owns the slab, unless another lane claimed a chunk
// in between. A claim of an invalid counter fails. Its addition stays in the counter until the publication of the next
// slab overwrites the counter.
//
// Assumed: A slot without a slab starts as invalid. If it started at zero, other lanes could claim, free and return the
// first slab of a slot before the slab's maker has counted its own reservations. Then blocks would overlap.
//
// Memory orders: The update that lowers the counter releases, and the one that raises it acquires. LLVM's code has
// fences instead. In the fixed form, the update that lowers the counter to zero also acquires. So all accesses of one
// use of the slab come before the next use.
#pragma once

#include "allocators/llvm_libc/slab.hpp"
#include "simt/simt.hpp"

namespace allocbench::llvm_libc {

struct Guard {
  static constexpr std::uint32_t invalid = 1u << 31;
  static constexpr std::uint32_t helped = 1u << 30;

  std::uint32_t counter;

  // Reserves `count` chunks. Returns whether there is a slab. If there is one, `after` is the number of reservations.
  template <class Thread>
  SIMT_FN bool claim(Thread& thread, std::uint32_t count, std::uint32_t& after) {
    after = thread.atomic(counter).fetch_add(count, simt::acquire) + count;
    return (after & invalid) == 0;
  }

  // Reserves `count` chunks for the lanes that have just published the slab, and makes the slab available to
  // others. Returns the number of reservations.
  template <class Thread>
  SIMT_FN std::uint32_t open(Thread& thread, std::uint32_t count) {
    std::uint32_t after;
    if (claim(thread, count, after)) return after;
    thread.atomic(counter).store(count, simt::release);
    return count;
  }

  // Returns the number of reservations, or 0 if there is no slab. With `reclaim`, a counter of zero becomes invalid for
  // the lane that lowered it (`helped`). Without `reclaim`, no lane returns slabs, so the counter would stay invalid.
  template <class Thread>
  SIMT_FN std::uint32_t read(Thread& thread, bool reclaim) {
    const auto word = thread.atomic(counter);
    std::uint32_t seen = word.load(simt::relaxed);
    const bool may_help = seen == 0 && reclaim;
    if (may_help && word.compare_exchange(seen, invalid | helped, simt::relaxed, simt::relaxed)) return 0;
    return (seen & invalid) != 0 ? 0 : seen;
  }

  // Ends `count` reservations. Returns true to the one lane that now owns the slab.
  template <class Thread>
  SIMT_FN bool leave(Thread& thread, std::uint32_t count, BitOrders orders, bool reclaim) {
    const auto word = thread.atomic(counter);
    const std::uint32_t before =
        orders.setting_acquires ? word.fetch_sub(count, simt::acq_rel) : word.fetch_sub(count, simt::release);
    if (before != count || !reclaim) return false;
    std::uint32_t seen = 0;
    if (word.compare_exchange(seen, invalid, simt::relaxed, simt::relaxed)) return true;
    return (seen & helped) != 0 && (word.exchange(invalid, simt::relaxed) & helped) != 0;
  }
};

}  // namespace allocbench::llvm_libc
