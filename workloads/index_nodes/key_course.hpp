// The insertions and deletions of index_nodes, and the expected contents of the index, computed on the host.
// Independent of devices.
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
  // The build, the rounds of updates, and at last the deletion of all keys: in random order, no key twice in one.
  std::vector<std::vector<KeyOperation>> launches;
  // After the build and after each round: every key that the index has or had, and its value; 0 where it has it no
  // more.
  std::vector<std::vector<KeyOperation>> look_ups;
  // Before the last launch, by bucket: its keys with their values, and the index of its first node; one entry more for
  // the number of all nodes.
  std::vector<MultisetDigest> buckets;
  std::vector<std::uint32_t> first_node;

  // For kept_input().
  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.launches);
    visit(self.look_ups);
    visit(self.buckets);
    visit(self.first_node);
  }
  std::size_t most_operations() const;
  // No launch can need more, in whatever order its operations run.
  std::uint64_t mallocs_at_most() const;
};

// `mask`: the number of buckets, a power of two, less one.
KeyCourse draw_keys(std::uint32_t keys, std::uint32_t rounds, double changed_share, std::uint32_t mask,
                    std::uint32_t node_capacity, std::uint64_t seed);

}  // namespace allocbench::index
