// A search runs these versions of the suite's allocators to confirm or refute what a reader of their code suspects.
// Each twin is the safe version on the same heap.
#pragma once

#include "allocators/flatter_scatter/flatter_scatter.hpp"
#include "allocators/llvm_libc/llvm_libc.hpp"
#include "allocators/rocm_dm/rocm_dm.hpp"
#include "allocators/rocm_dm/rocm_dm_grouped.hpp"
#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

// OrderedBits is the safe twin of an allocator whose published bits lack some or all memory orders. With the published
// bits, the allocator races.
template <class A>
struct OrderedBits : A {
  using typename A::Parameters;

  static consteval Traits describe() {
    std::string_view name = "zoo_llvm_relaxed_bits_repaired";
    if (A::traits.name == "rocm_dm") name = "zoo_rocm_relaxed_bits_repaired";
    if (A::traits.name == "rocm_dm_grouped") name = "zoo_rocm_grouped_relaxed_bits_repaired";
    if (A::traits.name == "flatter_scatter") name = "zoo_flatter_scatter_relaxed_bits_repaired";
    return specimen(Form::repaired, {}, name, "bits with memory orders");
  }
  static constexpr Traits traits = describe();

  static SmallHeap<Parameters> small_heap() { return ordered(A::small_heap()); }
  static SmallHeap<Parameters> second_small_heap() { return ordered(allocbench::second_small_heap<A>()); }
  static OrderedBits create(Arena& arena, const Parameters& parameters) { return {A::create(arena, parameters)}; }

 private:
  static SmallHeap<Parameters> ordered(SmallHeap<Parameters> heap) {
    heap.parameters.bit_orders = "fixed";
    return heap;
  }
};

// RocmSpecimen is ROCm's development version. Two lanes may make slabs of one size at the same time, because there is
// no interval between slabs or the interval ends while a lane still makes a slab. The bits of the specimen are ordered,
// because the published ones would race in the twins, too.
template <std::uint32_t interval>
struct RocmSpecimen {
  template <Form form>
  class OfForm : public RocmDmGrouped {
   public:
    static constexpr Traits traits =
        interval == 0 ? specimen(form, "zoo_rocm_early_count", "zoo_rocm_early_count_repaired",
                                 "a maker that loses the exchange has overwritten the winner's count")
                      : specimen(form, "zoo_rocm_slow_maker", "zoo_rocm_slow_maker_repaired",
                                 "the interval ends while a maker sleeps and slabs of other sizes are made");

    static SmallHeap<Parameters> small_heap() {
      auto heap = RocmDmGrouped::small_heap();
      heap.pool_bytes = (interval == 0 ? 3 : 6) * heap.parameters.slab_bytes;
      heap.parameters.slab_interval = interval;
      heap.parameters.bit_orders = "fixed";
      heap.parameters.count_order = form == Form::broken ? "published" : "fixed";
      return heap;
    }
    static OfForm create(Arena& arena, const Parameters& parameters) {
      OfForm allocator;
      static_cast<RocmDmGrouped&>(allocator) = RocmDmGrouped::create(arena, parameters);
      return allocator;
    }
  };
};
template <Form form>
using RocmEarlyCount = RocmSpecimen<0>::OfForm<form>;
template <Form form>
using RocmSlowMaker = RocmSpecimen<2>::OfForm<form>;

}  // namespace allocbench::zoo
