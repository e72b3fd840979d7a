// This file has the hash index: nodes, buckets, and the search of a chain by a warp.
#pragma once

#include "simt/simt.hpp"
#include "workloads/support/random/mix.hpp"

namespace allocbench::index {

struct Node {
  static constexpr std::uint32_t capacity = 14;

  std::uint32_t keys[capacity];
  std::uint32_t values[capacity];
  std::uint32_t count;
  std::uint32_t bucket;
  std::uint64_t next;
};
static_assert(sizeof(Node) == 128, "a node is one cache line");

SIMT_HOST_FN Node* node_at(std::uint64_t address) { return reinterpret_cast<Node*>(address); }

// A chain of nodes. All nodes but the first are full. A bucket whose bytes are all zero is empty.
struct Bucket {
  std::uint64_t first;
  std::uint32_t lock;
  std::uint32_t unused;
};

struct HashIndex {
  Bucket* buckets;
  std::uint32_t mask;  // number of buckets less one

  SIMT_HOST_FN std::uint32_t bucket_of(std::uint32_t key) const { return mix32(key) & mask; }
};

// The place of a key in the index.
struct Found {
  Node* node = nullptr;  // null: the key is in no node
  std::uint32_t slot = 0;
};

// Searches the bucket for a key. All lanes of the warp pass the same arguments and get the same result.
template <class Thread>
SIMT_FN Found find(Thread& thread, const Bucket& bucket, std::uint32_t key) {
  const auto warp = thread.warp();
  const std::uint32_t lane = thread.lane();
  for (std::uint64_t address = bucket.first; address != 0; address = node_at(address)->next) {
    Node* const node = node_at(address);
    const bool here = lane < Node::capacity && lane < node->count && node->keys[lane] == key;
    const std::uint32_t lanes = warp.ballot(here);
    if (lanes != 0) return {node, simt::count_trailing_zeros(lanes)};
  }
  return {};
}

}  // namespace allocbench::index
