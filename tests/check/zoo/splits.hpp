// These specimens of the bug zoo (specimen.hpp) hand out parts of larger units.
#pragma once

#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

// UnmergedBuddies has pairs of slots, which are split for small requests. Two free halves must become a pair again.
// Otherwise a heap that has served small requests never serves large ones.
template <Form form>
class UnmergedBuddies : public Specimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_unmerged_buddies", "zoo_unmerged_buddies_repaired",
                                            "two free halves of a pair are never merged");

  static UnmergedBuddies create(Arena& arena, const Parameters&) {
    UnmergedBuddies allocator;
    allocator.pool_ = SlotPool(arena);
    allocator.taken_pairs_ = arena.metadata<std::uint32_t>(1);
    allocator.halves_ = arena.metadata<std::uint32_t>(1);
    allocator.is_pair_ = arena.metadata<std::uint32_t>(allocator.pool_.slots());
    return allocator;
  }
  void reset(simt::Stream& stream) {
    simt::device_fill(stream, taken_pairs_, 0, sizeof *taken_pairs_);
    simt::device_fill(stream, halves_, 0, sizeof *halves_);
  }
  static std::size_t max_request(std::size_t, const Parameters&) { return 2 * SlotPool::slot_bytes; }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const bool small = bytes <= SlotPool::slot_bytes;
    std::uint32_t slot = small ? take_half(thread) : nothing;
    if (slot == nothing) {
      slot = take_pair(thread);
      if (slot == nothing) return nullptr;
      if (small) give_half(thread, slot + 1);
    }
    thread.atomic(is_pair_[slot]).store(small ? 0u : 1u, simt::relaxed);
    return pool_.block(slot);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t slot = pool_.slot_of(block);
    if (thread.atomic(is_pair_[slot]).load(simt::relaxed) != 0) {
      give_pair(thread, slot);
    } else {
      give_half(thread, slot);
    }
  }

 private:
  static constexpr std::uint32_t nothing = 0xffffffffu;

  template <class Thread>
  SIMT_FN std::uint32_t take_half(Thread& thread) {
    const auto halves = thread.atomic(*halves_);
    std::uint32_t seen = halves.load(simt::relaxed);
    while (seen != 0) {
      if (halves.compare_exchange(seen, seen & (seen - 1), simt::acquire, simt::relaxed)) {
        return simt::count_trailing_zeros(seen);
      }
    }
    return nothing;
  }
  template <class Thread>
  SIMT_FN void give_half(Thread& thread, std::uint32_t slot) {
    const auto halves = thread.atomic(*halves_);
    const std::uint32_t buddy = 1u << (slot ^ 1);
    std::uint32_t seen = halves.load(simt::relaxed);
    for (;;) {
      const bool merges = form == Form::repaired && (seen & buddy) != 0;
      const std::uint32_t wanted = merges ? seen & ~buddy : seen | 1u << slot;
      if (!halves.compare_exchange(seen, wanted, simt::acq_rel, simt::relaxed)) continue;
      if (merges) give_pair(thread, slot & ~1u);
      return;
    }
  }
  template <class Thread>
  SIMT_FN std::uint32_t take_pair(Thread& thread) {
    const auto taken = thread.atomic(*taken_pairs_);
    std::uint32_t seen = taken.load(simt::relaxed);
    for (;;) {
      const std::uint32_t pair = simt::count_trailing_zeros(~seen);
      if (pair >= pool_.slots() / 2) return nothing;
      if (taken.compare_exchange(seen, seen | 1u << pair, simt::acquire, simt::relaxed)) return 2 * pair;
    }
  }
  template <class Thread>
  SIMT_FN void give_pair(Thread& thread, std::uint32_t slot) {
    thread.atomic(*taken_pairs_).fetch_and(~(1u << slot / 2), simt::release);
  }

  SlotPool pool_;
  std::uint32_t* taken_pairs_ = nullptr;
  std::uint32_t* halves_ = nullptr;   // free single slots, a bit each
  std::uint32_t* is_pair_ = nullptr;  // true for a slot in use that is a pair
};

// LateHeader lets up to four lanes of a group share a run of four slots. The header of the run counts the lanes, and
// the last free returns the run. If a leader passes the run on before it writes the header, a lane may free its block
// before the header is there.
template <Form form>
class LateHeader : public Specimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_late_header", "zoo_late_header_repaired",
                                            "blocks of a run are handed out before its header is written");
  static constexpr std::uint32_t run_slots = 4;

  static LateHeader create(Arena& arena, const Parameters&) {
    LateHeader allocator;
    allocator.pool_ = SlotPool(arena);
    allocator.taken_runs_ = arena.metadata<std::uint32_t>(1);
    allocator.headers_ = arena.metadata<std::uint32_t>(allocator.pool_.slots() / run_slots);
    return allocator;
  }
  void reset(simt::Stream& stream) {
    simt::device_fill(stream, taken_runs_, 0, sizeof *taken_runs_);
    simt::device_fill(stream, headers_, 0, pool_.slots() / run_slots * sizeof *headers_);
  }
  // A lone lane gets one block of each run.
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 32 * SlotPool::slot_bytes, .serves_again = 1.0 / run_slots};
  }
  static SmallHeap<Parameters> second_small_heap() { return small_heap(); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const auto group = thread.converged();
    const std::uint32_t place = group.thread_rank() % run_slots;
    std::uint32_t run = nothing;
    if (place == 0) run = take_run(thread);
    const std::uint32_t sharers = simt::popcount(group.mask()) - group.thread_rank();
    const std::uint32_t blocks = sharers < run_slots ? sharers : run_slots;
    const bool writes = place == 0 && run != nothing;
    if constexpr (form == Form::repaired) {
      if (writes) thread.atomic(headers_[run]).store(blocks, simt::relaxed);
      group.sync();
    }
    run = group.shfl(run, group.thread_rank() - place);
    if constexpr (form == Form::broken) {
      if (writes) thread.atomic(headers_[run]).store(blocks, simt::relaxed);
    }
    return run == nothing ? nullptr : pool_.block(run * run_slots + place);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t run = pool_.slot_of(block) / run_slots;
    if (thread.atomic(headers_[run]).fetch_sub(1u, simt::acq_rel) == 1) {
      thread.atomic(*taken_runs_).fetch_and(~(1u << run), simt::release);
    }
  }

 private:
  static constexpr std::uint32_t nothing = 0xffffffffu;

  template <class Thread>
  SIMT_FN std::uint32_t take_run(Thread& thread) {
    std::uint32_t taken = thread.atomic(*taken_runs_).load(simt::relaxed);
    for (;;) {
      const std::uint32_t run = simt::count_trailing_zeros(~taken);
      if (run >= pool_.slots() / run_slots) return nothing;
      taken = thread.atomic(*taken_runs_).fetch_or(1u << run, simt::acquire);
      if ((taken >> run & 1) == 0) return run;
    }
  }

  SlotPool pool_;
  std::uint32_t* taken_runs_ = nullptr;
  std::uint32_t* headers_ = nullptr;  // number of blocks of each run in use
};

}  // namespace allocbench::zoo
