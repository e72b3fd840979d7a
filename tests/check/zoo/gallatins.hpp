// Each of these specimens of the bug zoo (specimen.hpp) has one of the errors that Gallatin's authors report for their
// own versions (allocators/gallatin/). The error of the published form is repaired in all specimens (docs/findings.md).
#pragma once

#include "allocators/gallatin/gallatin_static.hpp"
#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

using gallatin::StaticBug;

template <StaticBug bug>
struct GallatinSlots : gallatin::StaticGallatin<bug> {
  using Base = gallatin::StaticGallatin<bug>;
  using typename Base::Parameters;

  static consteval Traits describe() {
    Traits traits = specimen(Form::broken, "zoo_gallatin_torn_context", {}, "block and generation of two moments");
    if (bug == StaticBug::same_generation) {
      traits.name = "zoo_gallatin_same_generation";
      traits.summary = "a slot's new block has the generation of the old one";
    } else if (bug == StaticBug::single_additions) {
      traits.name = "zoo_gallatin_single_additions";
      traits.summary = "several slices in a row cost one addition of one";
    } else if (bug == StaticBug::none) {
      traits.name = "zoo_gallatin_static_repaired";
      traits.summary = "Gallatin with the static counter, on the heap of the broken ones";
    }
    traits.display_name = traits.name;
    return traits;
  }
  static constexpr Traits traits = describe();

  static SmallHeap<Parameters> small_heap() {
    auto heap = Base::small_heap();
    heap.parameters.heap.reset_class_first = true;
    return heap;
  }
  static GallatinSlots create(Arena& arena, const Parameters& parameters) { return {Base::lay_out(arena, parameters)}; }
};

}  // namespace allocbench::zoo
