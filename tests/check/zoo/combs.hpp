// Each of these specimens of the bug zoo (specimen.hpp) lacks one of the steps that make Comb safe (allocators/comb/).
// Their common repaired twin is Comb itself, on the same heap.
#pragma once

#include "allocators/comb/comb.hpp"
#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

using CombBug = allocbench::comb::Bug;

template <CombBug bug>
class Comb : public comb::Comb<bug> {
  static consteval Traits describe() {
    Traits traits = specimen(Form::broken, "zoo_comb_unchecked_claim", {}, "bits are mine whatever the tag says");
    if (bug == CombBug::partial_retirement) {
      traits.name = "zoo_comb_partial_retirement";
      traits.summary = "a chunk is retired although some of its words could not be had";
    } else if (bug == CombBug::late_class) {
      traits.name = "zoo_comb_late_class";
      traits.summary = "the words of a retired chunk are closed before the table has its new class";
    } else if (bug == CombBug::kept_guess) {
      traits.name = "zoo_comb_kept_guess";
      traits.summary = "a claim in a chunk of another class keeps its bits: slots are lost";
    } else if (bug == CombBug::none) {
      traits.name = "zoo_comb_repaired";
      traits.summary = "Comb, on the heap of the broken ones";
    }
    traits.display_name = traits.name;
    return traits;
  }

 public:
  using Parameters = comb::Parameters;
  static constexpr Traits traits = describe();

  // The heap has three chunks of two words.
  static SmallHeap<Parameters> small_heap() { return {3 * 1024, {.chunk_bytes = 1024, .least_chunks = 1}}; }
  static Comb create(Arena& arena, const Parameters& parameters) {
    Comb allocator;
    static_cast<comb::Comb<bug>&>(allocator) = comb::Comb<bug>::lay_out(arena, parameters);
    return allocator;
  }
};

}  // namespace allocbench::zoo
