// This file has allocators with one planted fault each, and the correct allocators for comparison.
#pragma once

#include "allocators/support/contract/allocator.hpp"

namespace allocbench::test {

enum class Fault {
  none,
  overlap,
  double_hand_out,
  misaligned,
  out_of_bounds,
  leak_every_third,
  null_always,
  null_after_a_free,
  null_every_third,
  null_now_and_then,
  null_often_at_last,
  null_warps_at_times,
  short_search,
  scribble,
  forgetful_reset,
  null_gives_a_slot,
  null_takes_a_slot
};

// The heap has slots. A word for each slot states whether the slot is in use. The number of earlier mallocs gives the
// slot at which a search starts. A request may be as large as a slot.
template <Fault fault, std::uint64_t bytes_of_slot = 64>
class SlotMalloc {
 public:
  using Parameters = NoParameters;
  static constexpr Traits traits{.name = "slot_malloc",
                                 .display_name = "SlotMalloc",
                                 .paper = "none",
                                 .summary = "slots with a used word each, and a planted fault",
                                 .test_only = true};
  static constexpr std::uint64_t slot_bytes = bytes_of_slot;

  static SlotMalloc create(Arena& arena, const Parameters&) {
    SlotMalloc result;
    result.pool_ = arena.pool();
    result.slots_ = static_cast<std::uint32_t>(result.pool_.bytes / slot_bytes);
    if (result.slots_ == 0) throw Unsupported("SlotMalloc needs a pool of one slot at least");
    result.state_ = arena.metadata<std::uint32_t>(3);
    result.used_ = arena.metadata<std::uint32_t>(result.slots_);
    return result;
  }

  void reset(simt::Stream& stream) {
    simt::device_fill(stream, state_, 0, 3 * sizeof *state_);
    const std::uint32_t forgotten = fault == Fault::forgetful_reset ? 1 : 0;
    simt::device_fill(stream, used_ + forgotten, 0, (slots_ - forgotten) * sizeof *used_);
  }

  static std::size_t max_request(std::size_t, const Parameters&) { return slot_bytes; }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const std::uint32_t call = thread.atomic(state_[0]).fetch_add(1u, simt::relaxed);
    if (fault == Fault::null_always) return nullptr;
    if (fault == Fault::null_after_a_free && thread.atomic(state_[1]).load(simt::relaxed) != 0) return nullptr;
    if (fault == Fault::null_every_third && call % 3 == 2) return nullptr;
    if (fault == Fault::null_now_and_then && call % 1000 == 999) return nullptr;
    if (fault == Fault::null_often_at_last && call >= 1000 && call % 30 == 29) return nullptr;
    if (fault == Fault::null_warps_at_times && call >= 1600 && call / 160 % 3 == 0 && call % 160 < 64) return nullptr;
    if (fault == Fault::double_hand_out) return pool_.base + call / 2 * slot_bytes;
    if (fault == Fault::overlap) return pool_.base + call * 16;
    if (fault == Fault::misaligned && call == 5) return pool_.base + call * slot_bytes + 4;
    if (fault == Fault::out_of_bounds && call == 5) return pool_.base + pool_.bytes - 8;
    // A search that gives up early tries half of the slots and starts at a random slot.
    const bool is_short = fault == Fault::short_search;
    const std::uint32_t start = is_short ? static_cast<std::uint32_t>(thread.clock() + call) * 0x9e3779b1u >> 8 : call;
    for (std::uint32_t tried = 0; tried < (is_short ? slots_ / 2 : slots_); ++tried) {
      const std::uint32_t slot = (start + tried) % slots_;
      if (thread.atomic(used_[slot]).exchange(1u, simt::acquire) == 0) return pool_.base + slot * slot_bytes;
    }
    return nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) {
      if (fault == Fault::null_gives_a_slot) thread.atomic(used_[3]).store(0u, simt::release);
      if (fault == Fault::null_takes_a_slot) thread.atomic(used_[3]).store(1u, simt::release);
      return;
    }
    const std::uint32_t call = thread.atomic(state_[1]).fetch_add(1u, simt::relaxed);
    if (fault == Fault::leak_every_third && call % 3 == 2) return;
    const auto slot = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - pool_.base) / slot_bytes;
    // Writes into the neighbour's block, which another thread may hold.
    if (fault == Fault::scribble && slot != 0) {
      *reinterpret_cast<std::uint32_t*>(pool_.base + (slot - 1) * slot_bytes) = 77;
    }
    if (slot < slots_) thread.atomic(used_[slot]).store(0u, simt::release);
  }

 private:
  Pool pool_;
  std::uint32_t slots_ = 0;
  std::uint32_t* state_ = nullptr;  // number of mallocs and frees so far
  std::uint32_t* used_ = nullptr;
};

// BulkMalloc is a bump pointer that release_all() resets.
class BulkMalloc {
 public:
  using Parameters = NoParameters;
  static constexpr Traits traits{.name = "bulk_malloc",
                                 .display_name = "BulkMalloc",
                                 .paper = "none",
                                 .summary = "a bump pointer that release_all() sets back",
                                 .frees = Frees::in_bulk,
                                 .test_only = true};
  static BulkMalloc create(Arena& arena, const Parameters&) {
    BulkMalloc result;
    result.pool_ = arena.pool();
    result.used_ = arena.metadata<std::uint64_t>(1);
    return result;
  }
  void reset(simt::Stream& stream) { simt::device_fill(stream, used_, 0, sizeof *used_); }
  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) { return pool_bytes; }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const std::uint64_t begin = thread.atomic(*used_).fetch_add(std::uint64_t{bytes}, simt::relaxed);
    return begin + bytes <= pool_.bytes ? pool_.base + begin : nullptr;
  }
  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}
  template <class Thread>
  SIMT_FN void release_all(Thread& thread) {
    thread.atomic(*used_).store(0, simt::relaxed);
  }

 private:
  Pool pool_;
  std::uint64_t* used_ = nullptr;
};

}  // namespace allocbench::test
