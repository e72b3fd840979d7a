// This file computes, on the host, the insertions and deletions of index_nodes and the expected contents of the index.
// This code does not depend on devices.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/support/random/mix.hpp"

namespace allocbench::index {

struct KeyOperation {
  std::uint32_t key;
  std::uint32_t value;  // 0: the key is deleted
};

struct KeyCourse {
  // The operations of each launch: the build, the rounds of updates, and finally the deletion of all keys. The
  // operations of a launch are in random order. No key occurs twice in a launch.
  std::vector<std::vector<KeyOperation>> launches;
  // The look-ups after the build and after each round: every key that the index has or had, and its value. The value of
  // a deleted key is 0.
  std::vector<std::vector<KeyOperation>> look_ups;
  // The state of each bucket before the last launch: the digest of its keys and values, and the index of its first
  // node. `first_node` ends with the number of all nodes.
  std::vector<MultisetDigest> buckets;
  std::vector<std::uint32_t> first_node;

  // kept_input() calls this function.
  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.launches);
    visit(self.look_ups);
    visit(self.buckets);
    visit(self.first_node);
  }
  std::size_t most_operations() const;
  // Returns a bound for the mallocs of all launches, in whatever order their operations run.
  std::uint64_t mallocs_at_most() const;
};

// Draws the keys and operations. `mask` is the number of buckets, which is a power of two, minus one.
KeyCourse draw_keys(std::uint32_t keys, std::uint32_t rounds, double changed_share, std::uint32_t mask,
                    std::uint32_t node_capacity, std::uint64_t seed);

}  // namespace allocbench::index
