// This file has the six reworked forms of Ouroboros as types for typed tests, and parameters for small chunks.
#pragma once

#include <gtest/gtest.h>

#include "allocators/ouroboros/ouroboros.hpp"

namespace allocbench::ouroboros {

inline constexpr std::uint64_t KiB = 1024;

// Variant is a form without the name of its registered plug-in.
template <class Policy>
struct Variant : OuroborosOf<Policy> {
  static constexpr Traits traits{.name = "ouroboros",
                                 .display_name = "Ouroboros",
                                 .paper = "",
                                 .summary = "",
                                 .form = Form::published,
                                 .pool = PoolLocation::arena_and_device_heap};
  using Parameters = ouroboros::Parameters;
  static Variant create(Arena& arena, const Parameters& parameters) {
    return {OuroborosOf<Policy>::lay_out(arena, parameters, traits.name)};
  }
};

using Variants = ::testing::Types<Variant<PageHeap<FlatRing>>, Variant<PageHeap<SegmentedQueue<ArrayHierarchy>>>,
                                  Variant<PageHeap<SegmentedQueue<LinkedList>>>, Variant<ChunkHeap<FlatRing>>,
                                  Variant<ChunkHeap<SegmentedQueue<ArrayHierarchy>>>,
                                  Variant<ChunkHeap<SegmentedQueue<LinkedList>>>>;

// The chunks of these forms can leave their class.
using ChunkVariants = ::testing::Types<Variant<ChunkHeap<FlatRing>>, Variant<ChunkHeap<SegmentedQueue<ArrayHierarchy>>>,
                                       Variant<ChunkHeap<SegmentedQueue<LinkedList>>>>;

// The queues of these forms lie in chunks.
using SegmentedVariants =
    ::testing::Types<Variant<PageHeap<SegmentedQueue<ArrayHierarchy>>>, Variant<PageHeap<SegmentedQueue<LinkedList>>>,
                     Variant<ChunkHeap<SegmentedQueue<ArrayHierarchy>>>,
                     Variant<ChunkHeap<SegmentedQueue<LinkedList>>>>;

inline Parameters chunks_of(std::uint64_t bytes) {
  Parameters parameters;
  parameters.chunk_bytes = bytes;
  parameters.device_heap_share = 0;
  return parameters;
}

}  // namespace allocbench::ouroboros
