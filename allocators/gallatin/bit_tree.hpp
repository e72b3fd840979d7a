// Van Emde Boas trees of Gallatin are sets of segments: bitmaps in layers, with up to 64 bits per node (McCoy & Pandey
// 2024).
//
// The bottom layer has one bit per segment, and each upper layer has one bit per node of the layer below.
// Find-first-set replaces the stored minima and maxima. The upper layers are hints. insert() sets a bit and continues
// upwards if its node was empty. remove() clears a bit and continues upwards if its node becomes empty. If a member is
// inserted while a removal continues upwards, the removal may hide it, as published, unless `recheck` is set.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::gallatin {

inline constexpr std::uint32_t no_segment = 0xffffffffu;

// TreeShape has the sizes of a tree. All trees of a heap have the same sizes.
struct TreeShape {
  std::uint32_t members = 0;
  std::uint32_t fanout_log2 = 6;
  std::uint32_t layers = 0;
  std::uint32_t words = 0;  // words of one tree

  static TreeShape of(std::uint32_t members, std::uint32_t fanout_log2) {
    TreeShape shape{members, fanout_log2, 0, 0};
    std::uint32_t nodes = members;
    do {
      nodes = shape.nodes_for(nodes);
      shape.words += nodes;
      ++shape.layers;
    } while (nodes > 1);
    return shape;
  }
  SIMT_HOST_FN std::uint32_t nodes_for(std::uint32_t children) const {
    return (children + (1u << fanout_log2) - 1) >> fanout_log2;
  }
};

struct BitTree {
  TreeShape shape;
  std::uint64_t* words;
  bool recheck;

  // Returns the lowest member that is not below `start`, or no_segment if there is none. If a node is empty although
  // the layer above has its bit, the search continues behind this node.
  template <class Thread>
  SIMT_FN std::uint32_t successor(Thread& thread, std::uint32_t start) const {
    SIMT_ROLLED
    while (start < shape.members) {
      std::uint32_t layer = 0;
      std::uint32_t nodes = shape.nodes_for(shape.members);
      std::uint32_t begin = 0;
      std::uint32_t index = start;
      std::uint64_t word = 0;
      for (;;) {
        const std::uint32_t node = index >> shape.fanout_log2;
        if (node >= nodes) return no_segment;
        const std::uint32_t bit = index & mask();
        word = thread.atomic(words[begin + node]).load(simt::relaxed) >> bit << bit;
        if (word != 0) {
          index = node << shape.fanout_log2 | simt::count_trailing_zeros(word);
          break;
        }
        if (++layer == shape.layers) return no_segment;
        begin += nodes;
        nodes = shape.nodes_for(nodes);
        index = node + 1;
      }
      while (layer != 0) {
        --layer;
        word = thread.atomic(words[layer_begin(layer) + index]).load(simt::relaxed);
        if (word == 0) break;
        index = index << shape.fanout_log2 | simt::count_trailing_zeros(word);
      }
      if (word != 0) return index;
      thread.probe(simt::Step::retry);
      start = (index + 1) << shape.fanout_log2 * (layer + 1);
    }
    return no_segment;
  }

  template <class Thread>
  SIMT_FN void insert(Thread& thread, std::uint32_t member) const {
    const std::uint32_t node = member >> shape.fanout_log2;
    const std::uint64_t bit = std::uint64_t{1} << (member & mask());
    if (thread.atomic(words[node]).fetch_or(bit, simt::acq_rel) == 0) insert_above(thread, 0, node);
  }
  // Sets the bits above a node of this layer that was empty and now has a member.
  template <class Thread>
  SIMT_FN void insert_above(Thread& thread, std::uint32_t layer, std::uint32_t node) const {
    std::uint32_t nodes = shape.members;
    std::uint32_t begin = 0;
    SIMT_ROLLED
    for (std::uint32_t i = 0; i + 1 < shape.layers; ++i) {
      nodes = shape.nodes_for(nodes);
      begin += nodes;
      if (i < layer) continue;
      const std::uint64_t bit = std::uint64_t{1} << (node & mask());
      node >>= shape.fanout_log2;
      if (thread.atomic(words[begin + node]).fetch_or(bit, simt::acq_rel) != 0) return;
    }
  }

  // Removes a segment from the set. Returns whether it was a member.
  template <class Thread>
  SIMT_FN bool remove(Thread& thread, std::uint32_t member) const {
    std::uint32_t nodes = shape.members;
    std::uint32_t begin = 0;
    std::uint32_t child = 0;
    bool was_member = true;
    SIMT_ROLLED
    for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
      nodes = shape.nodes_for(nodes);
      const std::uint64_t bit = std::uint64_t{1} << (member & mask());
      member >>= shape.fanout_log2;
      const auto word = thread.atomic(words[begin + member]);
      const std::uint64_t before = word.fetch_and(~bit, simt::acq_rel);
      if (layer == 0) was_member = (before & bit) != 0;
      if (layer != 0 && recheck && thread.atomic(words[child]).fetch_or(0, simt::acq_rel) != 0) {
        if (word.fetch_or(bit, simt::acq_rel) == 0) insert_above(thread, layer, member);
        return was_member;
      }
      if ((before & ~bit) != 0 || (before & bit) == 0) return was_member;
      child = begin + member;
      begin += nodes;
    }
    return was_member;
  }

  SIMT_HOST_FN std::uint32_t layer_begin(std::uint32_t layer) const {
    std::uint32_t nodes = shape.members;
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < layer; ++i) {
      nodes = shape.nodes_for(nodes);
      begin += nodes;
    }
    return begin;
  }
  SIMT_HOST_FN std::uint32_t mask() const { return (1u << shape.fanout_log2) - 1; }
};

}  // namespace allocbench::gallatin
