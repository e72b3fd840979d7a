// Allocators of the suite in versions that only a search runs, to confirm or refute what a reader of their code
// suspects. The twins have the safe version on the same heap.
#pragma once

#include "allocators/llvm_libc/llvm_libc.hpp"
#include "allocators/rocm_dm/rocm_dm_grouped.hpp"
#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

// LLVM libc with memory orders at the bits: the safe twin of llvm_libc, which races.
class LlvmOrderedBits : public LlvmLibc {
 public:
  static constexpr Traits traits =
      specimen(Form::repaired, {}, "zoo_llvm_relaxed_bits_repaired", "LLVM libc, bits with orders");

  static SmallHeap<Parameters> small_heap() {
    auto heap = LlvmLibc::small_heap();
    heap.parameters.bit_orders = "fixed";
    return heap;
  }
  static LlvmOrderedBits create(Arena& arena, const Parameters& parameters) {
    LlvmOrderedBits allocator;
    static_cast<LlvmLibc&>(allocator) = LlvmLibc::create(arena, parameters);
    return allocator;
  }
};

// ROCm's development version where two slabs of one size may be made at the same time.
template <Form form>
class RocmEarlyCount : public RocmDmGrouped {
 public:
  static constexpr Traits traits = specimen(form, "zoo_rocm_early_count", "zoo_rocm_early_count_repaired",
                                            "a maker that loses the exchange has overwritten the winner's count");

  static SmallHeap<Parameters> small_heap() {
    auto heap = RocmDmGrouped::small_heap();
    heap.parameters.slab_interval = 0;
    heap.parameters.count_order = form == Form::broken ? "published" : "fixed";
    return heap;
  }
  static RocmEarlyCount create(Arena& arena, const Parameters& parameters) {
    RocmEarlyCount allocator;
    static_cast<RocmDmGrouped&>(allocator) = RocmDmGrouped::create(arena, parameters);
    return allocator;
  }
};

}  // namespace allocbench::zoo
