// The parameters of Gallatin have the defaults of the authors' tests. `least_segments` is assumed, and the two
// parameters for repairs are ours.
#pragma once

#include "allocators/support/contract/parameters.hpp"

namespace allocbench::gallatin {

struct Parameters {
  std::uint64_t segment_bytes = std::uint64_t{16} << 20;
  std::uint64_t max_slice_bytes = 4096;
  std::uint32_t least_segments = 32;
  std::uint32_t pinned_blocks = 128;
  std::uint32_t least_pinned_blocks = 4;
  std::uint32_t fanout = 64;
  std::uint32_t block_tries = 1000;
  std::uint32_t slice_tries = 5000;
  std::uint32_t run_tries = 500;
  std::uint32_t tree_restarts = 15;
  std::uint32_t seed = 42;
  bool first_fit = false;
  bool recheck_cleared_words = false;
  bool reset_class_first = false;

  static auto fields() {
    using P = Parameters;
    return std::tuple{
        Field{"segment_bytes", &P::segment_bytes, "B",
              "bytes of a segment; halved until the pool has least_segments of them", "public code"}
            .between(64, 1 << 24)
            .powers_of_two(),
        Field{"max_slice_bytes", &P::max_slice_bytes, "B",
              "largest slice; at most a sixteenth of a segment where segments were halved", "public code"}
            .between(16, 4096)
            .powers_of_two(),
        Field{"least_segments", &P::least_segments, "", "segments that a pool has at least", "assumed"}.between(1,
                                                                                                                65536),
        Field{"pinned_blocks", &P::pinned_blocks, "",
              "blocks of the smallest slices that SMs share; every larger class has half as many", "public code"}
            .between(1, 4096)
            .powers_of_two(),
        Field{"least_pinned_blocks", &P::least_pinned_blocks, "", "pinned blocks of a class at least", "public code"}
            .between(1, 4096)
            .powers_of_two(),
        Field{"fanout", &P::fanout, "", "children of a node of the trees", "abstract"}.between(2, 64).powers_of_two(),
        Field{"block_tries", &P::block_tries, "", "tries to get a block", "public code"}.between(1, 1 << 20),
        Field{"slice_tries", &P::slice_tries, "", "tries to get slices: 10 times 500", "public code"}.between(1,
                                                                                                              1 << 20),
        Field{"run_tries", &P::run_tries, "", "tries to get a whole block or a run of segments", "public code"}.between(
            1, 1 << 20),
        Field{"tree_restarts", &P::tree_restarts, "",
              "random places from which a block is searched before the search begins at the lowest segment",
              "public code"}
            .between(1, 1 << 20),
        Field{"seed", &P::seed, "", "of the places where searches for a block begin", "public code"},
        Field{"first_fit", &P::first_fit, "", "search for blocks from the lowest segment on, not from a random one",
              "abstract"},
        Field{"recheck_cleared_words", &P::recheck_cleared_words, "",
              "look at a node's child again after the node was cleared; published: an insertion meanwhile is hidden",
              "repair"},
        Field{"reset_class_first", &P::reset_class_first, "",
              "a freed run loses its class before its segments become free; published: after", "repair"}};
  }
};

}  // namespace allocbench::gallatin
