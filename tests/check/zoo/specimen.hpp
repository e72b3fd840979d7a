// The bug zoo has allocators that are broken on purpose. Each of these specimens has a repaired twin, of its own or
// shared, which differs only in the bug. `allocbench check` must find a bug in every specimen and none in the twins.
// Published GPU allocators have bugs of these kinds, for example a page recycled under an allocation, a full mask in
// divergent code, or ABA. Here the bugs have their smallest form.
#pragma once

#include <string_view>

#include "allocators/support/contract/allocator.hpp"

namespace allocbench::zoo {

enum class Form { broken, repaired };

// SlotPool is a heap of equal slots, which nearly all specimens manage.
class SlotPool {
 public:
  static constexpr std::uint32_t slot_bytes = 64;

  SlotPool() = default;
  explicit SlotPool(Arena& arena)
      : base_(arena.pool().base), slots_(static_cast<std::uint32_t>(arena.pool_bytes() / slot_bytes)) {}

  SIMT_FN std::uint32_t slots() const { return slots_; }
  SIMT_FN void* block(std::uint32_t slot) const { return base_ + std::size_t{slot} * slot_bytes; }
  SIMT_FN std::uint32_t slot_of(const void* block) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(static_cast<const std::byte*>(block) - base_) /
                                      slot_bytes);
  }

 private:
  std::byte* base_ = nullptr;
  std::uint32_t slots_ = 0;
};

// SlotBits is a word with a bit for each slot. The bit is set if the slot is taken.
class SlotBits {
 public:
  static constexpr std::uint32_t none = 32;

  SlotBits() = default;
  explicit SlotBits(Arena& arena) : word_(arena.metadata<std::uint32_t>(1)) {}
  void clear(simt::Stream& stream) { simt::device_fill(stream, word_, 0, sizeof *word_); }

  // Takes a slot that was free, or returns none.
  template <class Thread>
  SIMT_FN std::uint32_t claim(Thread& thread) const {
    std::uint32_t bits = word(thread).load(simt::relaxed);
    while (~bits != 0) {
      const std::uint32_t slot = simt::count_trailing_zeros(~bits);
      bits = word(thread).fetch_or(1u << slot, simt::acquire);
      if ((bits >> slot & 1) == 0) return slot;
    }
    return none;
  }
  // Takes a slot for a caller that knows that a slot is free or will be soon. Waits until it gets one.
  template <class Thread>
  SIMT_FN std::uint32_t claim_surely(Thread& thread) const {
    for (;;) {
      const std::uint32_t slot = claim(thread);
      if (slot != none) return slot;
      thread.spin_hint();
    }
  }
  template <class Thread>
  SIMT_FN void release(Thread& thread, std::uint32_t slot) const {
    word(thread).fetch_and(~(1u << slot), simt::release);
  }

  template <class Thread>
  SIMT_FN auto word(Thread& thread) const {
    return thread.atomic(*word_);
  }

 private:
  std::uint32_t* word_ = nullptr;
};

// Specimen is the common part of most specimens: 32 slots, and state in metadata that starts as zeros.
struct Specimen {
  using Parameters = NoParameters;
  static std::size_t max_request(std::size_t, const Parameters&) { return SlotPool::slot_bytes; }
  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 32 * SlotPool::slot_bytes}; }
  // The second heap is the same, because the state has no room for more slots.
  static SmallHeap<Parameters> second_small_heap() { return small_heap(); }
};

// BitSpecimen has slots with a bit each.
class BitSpecimen : public Specimen {
 public:
  explicit BitSpecimen(Arena& arena) : pool_(arena), bits_(arena) {}
  void reset(simt::Stream& stream) { bits_.clear(stream); }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block != nullptr) bits_.release(thread, pool_.slot_of(block));
  }

 protected:
  SlotPool pool_;
  SlotBits bits_;
};

// CountedSpecimen has slots with a bit each, and a count of the taken slots.
class CountedSpecimen : public Specimen {
 public:
  explicit CountedSpecimen(Arena& arena) : pool_(arena), count_(arena.metadata<std::uint32_t>(1)), bits_(arena) {}
  void reset(simt::Stream& stream) {
    clear_count(stream);
    bits_.clear(stream);
  }

 protected:
  void clear_count(simt::Stream& stream) { simt::device_fill(stream, count_, 0, sizeof *count_); }

  SlotPool pool_;
  std::uint32_t* count_ = nullptr;
  SlotBits bits_;
};

// BumpSpecimen has a number that only grows until a reset. Until then, memory below the number is never free again.
template <class Number>
class BumpSpecimen : public Specimen {
 public:
  explicit BumpSpecimen(Arena& arena) : next_(arena.metadata<Number>(1)) {}
  void reset(simt::Stream& stream) { simt::device_fill(stream, next_, 0, sizeof *next_); }

  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

 protected:
  Number* next_ = nullptr;
};

class BumpSlots : public BumpSpecimen<std::uint32_t> {
 public:
  explicit BumpSlots(Arena& arena) : BumpSpecimen(arena), pool_(arena) {}

 protected:
  SlotPool pool_;
};

class BumpBytes : public BumpSpecimen<std::uint64_t> {
 public:
  explicit BumpBytes(Arena& arena) : BumpSpecimen(arena), pool_(arena.pool()) {}
  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) { return pool_bytes; }

 protected:
  Pool pool_;
};

// Returns the traits of a specimen. `broken` and `repaired` are the names of the two forms.
consteval Traits specimen(Form form, std::string_view broken, std::string_view repaired, std::string_view bug,
                          Frees frees = Frees::individually) {
  return {.name = form == Form::broken ? broken : repaired,
          .display_name = form == Form::broken ? broken : repaired,
          .paper = "bug zoo",
          .summary = bug,
          .frees = frees,
          .test_only = true};
}

}  // namespace allocbench::zoo
