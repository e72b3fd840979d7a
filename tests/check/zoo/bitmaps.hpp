// These specimens of the bug zoo (specimen.hpp) claim slots in a bitmap.
#pragma once

#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

// DoubleHandOut looks whether the bit is free, then sets it without checking whether another lane was faster.
template <Form form>
class DoubleHandOut : public BitSpecimen {
 public:
  static constexpr Traits traits =
      specimen(form, "zoo_double_hand_out", "zoo_double_hand_out_repaired", "a bit is tested and set in two steps");

  using BitSpecimen::BitSpecimen;
  static DoubleHandOut create(Arena& arena, const Parameters&) { return DoubleHandOut(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    if constexpr (form == Form::repaired) {
      const std::uint32_t slot = bits_.claim(thread);
      return slot == SlotBits::none ? nullptr : pool_.block(slot);
    } else {
      const std::uint32_t free = ~bits_.word(thread).load(simt::relaxed);
      if (free == 0) return nullptr;
      const std::uint32_t slot = simt::count_trailing_zeros(free);
      bits_.word(thread).fetch_or(1u << slot, simt::acquire);
      return pool_.block(slot);
    }
  }
};

// CountBeforeBit counts the slot as free before its bit is cleared. A malloc that was admitted may then look at a full
// bitmap and conclude that no slot is free, and its count is lost.
template <Form form>
class CountBeforeBit : public CountedSpecimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_count_before_bit", "zoo_count_before_bit_repaired",
                                            "a free raises the count of free slots before it clears the bit");

  using CountedSpecimen::CountedSpecimen;
  static CountBeforeBit create(Arena& arena, const Parameters&) { return CountBeforeBit(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    std::uint32_t taken = thread.atomic(*count_).load(simt::relaxed);
    do {
      if (taken >= pool_.slots()) return nullptr;
    } while (!thread.atomic(*count_).compare_exchange(taken, taken + 1, simt::acquire, simt::relaxed));
    const std::uint32_t slot = bits_.claim(thread);
    return slot == SlotBits::none ? nullptr : pool_.block(slot);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    if constexpr (form == Form::broken) thread.atomic(*count_).fetch_sub(1u, simt::release);
    bits_.release(thread, pool_.slot_of(block));
    if constexpr (form == Form::repaired) thread.atomic(*count_).fetch_sub(1u, simt::release);
  }
};

enum class NullBug {
  none,
  frees_slot,  // a slot is computed from every address, even from the null pointer
  clears_bit,  // slot 3 becomes free, even if a lane has it
  loses_slot   // a free slot is marked as taken
};

// A model that frees null pointers finds the first two bugs of NullFree if other blocks live meanwhile. It finds the
// third bug if it counts all slots afterwards.
template <NullBug bug>
class NullFree : public BitSpecimen {
  static constexpr std::string_view name() {
    if (bug == NullBug::frees_slot) return "zoo_null_free";
    if (bug == NullBug::clears_bit) return "zoo_null_clears_bit";
    return bug == NullBug::loses_slot ? "zoo_null_loses_slot" : "zoo_null_free_repaired";
  }

 public:
  static constexpr Traits traits = specimen(Form::broken, name(), name(), "free(null) changes which slots are taken");

  using BitSpecimen::BitSpecimen;
  static NullFree create(Arena& arena, const Parameters&) { return NullFree(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const std::uint32_t slot = bits_.claim(thread);
    return slot == SlotBits::none ? nullptr : pool_.block(slot);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) {
      if (bug == NullBug::none) return;
      if (bug == NullBug::clears_bit) return bits_.release(thread, 3);
      if (bug == NullBug::loses_slot) return static_cast<void>(bits_.claim(thread));
    }
    bits_.release(thread, pool_.slot_of(block) % pool_.slots());
  }
};

// ForgetfulReset clears the bitmap and forgets to reset the count of taken slots. So the new heap looks as full as the
// old one.
template <Form form>
class ForgetfulReset : public CountBeforeBit<Form::repaired> {
 public:
  static constexpr Traits traits = specimen(form, "zoo_forgetful_reset", "zoo_forgetful_reset_repaired",
                                            "reset() clears the bitmap, not the count of taken slots");

  using CountBeforeBit<Form::repaired>::CountBeforeBit;
  static ForgetfulReset create(Arena& arena, const Parameters&) { return ForgetfulReset(arena); }
  void reset(simt::Stream& stream) {
    bits_.clear(stream);
    if constexpr (form == Form::repaired) clear_count(stream);
  }
};

}  // namespace allocbench::zoo
