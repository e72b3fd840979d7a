// These specimens of the bug zoo (specimen.hpp) have a bug in the arithmetic of a shared counter.
#pragma once

#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

// LostUpdate advances a bump pointer by a load and a store, so two lanes may read the same value.
template <Form form>
class LostUpdate : public BumpSlots {
 public:
  static constexpr Traits traits = specimen(form, "zoo_lost_update", "zoo_lost_update_repaired",
                                            "bump pointer advanced by a load and a store", Frees::never);

  using BumpSlots::BumpSlots;
  static LostUpdate create(Arena& arena, const Parameters&) { return LostUpdate(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const auto next = thread.atomic(*next_);
    std::uint32_t slot = next.load(simt::relaxed);
    if constexpr (form == Form::broken) {
      if (slot >= pool_.slots()) return nullptr;
      next.store(slot + 1, simt::relaxed);
    } else {
      do {
        if (slot >= pool_.slots()) return nullptr;
      } while (!next.compare_exchange(slot, slot + 1, simt::relaxed, simt::relaxed));
    }
    return pool_.block(slot);
  }
};

// OffByOne compares only the first 16 bytes of a block with the end, so a larger last block may begin inside the pool
// and end outside.
template <Form form>
class OffByOne : public BumpBytes {
 public:
  static constexpr Traits traits = specimen(form, "zoo_off_by_one", "zoo_off_by_one_repaired",
                                            "the last block reaches past the end of the pool", Frees::never);

  using BumpBytes::BumpBytes;
  static OffByOne create(Arena& arena, const Parameters&) { return OffByOne(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const std::uint64_t need = simt::round_up<std::uint64_t>(bytes, 16);
    const std::uint64_t offset = thread.atomic(*next_).fetch_add(need, simt::relaxed);
    const std::uint64_t tested = form == Form::broken ? offset + 16 : offset + need;
    return tested > pool_.bytes ? nullptr : pool_.base + offset;
  }
};

// LeakOnFailure counts a slot before it looks for one. A request that finds none must subtract its count again, but the
// broken form does not.
template <Form form>
class LeakOnFailure : public CountedSpecimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_leak_on_failure", "zoo_leak_on_failure_repaired",
                                            "a failed allocation keeps the slot it had counted for itself");

  using CountedSpecimen::CountedSpecimen;
  static LeakOnFailure create(Arena& arena, const Parameters&) { return LeakOnFailure(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    if (thread.atomic(*count_).fetch_add(1u, simt::relaxed) >= pool_.slots()) {
      if constexpr (form == Form::repaired) thread.atomic(*count_).fetch_sub(1u, simt::relaxed);
      return nullptr;
    }
    // Every lane that was counted finds a free bit, and frees clear the bit before they lower the count.
    return pool_.block(bits_.claim_surely(thread));
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    bits_.release(thread, pool_.slot_of(block));
    thread.atomic(*count_).fetch_sub(1u, simt::relaxed);
  }
};

// CounterOverflow has two halves of 16 slots. Each half has one word, with a bit per slot and, above the bits, the
// count of taken slots. A count of 0 means an empty half, whose first slot needs no search. In the broken form, the
// count has 4 bits, so it is also 0 for a full half.
template <Form form>
class CounterOverflow : public Specimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_counter_overflow", "zoo_counter_overflow_repaired",
                                            "the count of a full half overflows and looks like that of an empty one");
  static constexpr std::uint32_t half = 16;
  static constexpr std::uint32_t one = 1u << half;
  static constexpr std::uint32_t count_mask = form == Form::broken ? 15 : 31;

  static CounterOverflow create(Arena& arena, const Parameters&) {
    CounterOverflow allocator;
    allocator.pool_ = SlotPool(arena);
    allocator.halves_ = arena.metadata<std::uint32_t>(2);
    return allocator;
  }
  void reset(simt::Stream& stream) { simt::device_fill(stream, halves_, 0, 2 * sizeof *halves_); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    for (std::uint32_t which = 0; which < 2; ++which) {
      const auto word = thread.atomic(halves_[which]);
      std::uint32_t seen = word.load(simt::relaxed);
      for (;;) {
        const std::uint32_t count = seen >> half & count_mask;
        const std::uint32_t slot = count == 0 ? 0 : simt::count_trailing_zeros(~seen);
        if (count == half || slot >= half) break;
        if (word.compare_exchange(seen, (seen | 1u << slot) + one, simt::acquire, simt::relaxed)) {
          return pool_.block(which * half + slot);
        }
      }
    }
    return nullptr;
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t slot = pool_.slot_of(block);
    thread.atomic(halves_[slot / half]).fetch_sub(one + (1u << slot % half), simt::release);
  }

 private:
  SlotPool pool_;
  std::uint32_t* halves_ = nullptr;
};

// CounterUnderflow has a count of free slots, which a request lowers before it looks. In the broken form, only the
// request that finds 0 is refused. Another request may find the count below 0, which is a very large unsigned number.
// `count_` is the change of the count since the heap was new.
template <Form form>
class CounterUnderflow : public CountedSpecimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_counter_underflow", "zoo_counter_underflow_repaired",
                                            "at exhaustion the count of free slots passes below zero");

  using CountedSpecimen::CountedSpecimen;
  static CounterUnderflow create(Arena& arena, const Parameters&) { return CounterUnderflow(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const std::uint32_t left = pool_.slots() + thread.atomic(*count_).fetch_sub(1u, simt::relaxed);
    if (form == Form::broken ? left == 0 : static_cast<std::int32_t>(left) <= 0) {
      thread.atomic(*count_).fetch_add(1u, simt::relaxed);
      return nullptr;
    }
    return pool_.block(bits_.claim_surely(thread));
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    bits_.release(thread, pool_.slot_of(block));
    thread.atomic(*count_).fetch_add(1u, simt::relaxed);
  }
};

}  // namespace allocbench::zoo
