// These types form a directed graph that grows in device memory: an unbalanced binary search tree of nodes, each with a
// list of edges.
//
// Paper: Spliet et al., GPGPU-7 2014, sec. 5.3, listings 1 to 3.
//
// Protocol: A thread first fills a node, then compare-exchanges its address into a null link with acq_rel. Links are
// read with acquire, so a lane that finds a node sees its contents. A link of the tree changes only once, from null to
// a node, so there is no ABA problem. A lane that loses an exchange gets the address of the winner's node and continues
// there. (The listings restart at the root, which leads to the same place.) Edges are pushed on the list of their
// source; no lane reads a list before the kernel ends.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench::graph {

// Links are addresses; 0 means none.
struct Node {
  std::uint32_t key;
  std::uint32_t unused;
  std::uint64_t left;
  std::uint64_t right;
  std::uint64_t edges;
};
static_assert(sizeof(Node) == 32);

struct Edge {
  std::uint64_t next;
  std::uint64_t target;  // address of a node
};
static_assert(sizeof(Edge) == 16);

// The operations of one thread on the tree. `Session` is an allocator, its session, or another type with malloc and
// free (WarpBlocks).
template <class Session>
class Builder {
 public:
  // If another thread inserts the same key first, the thread's own node is freed, or with `hold` kept for the next
  // need.
  SIMT_FN Builder(Session& session, std::uint64_t* root, bool hold) : session_(session), root_(root), hold_(hold) {}

  // Returns the node of `key`. If there is none, the function makes it and stores its address in `record[key]`. Returns
  // null if memory ran out.
  template <class Thread>
  SIMT_FN Node* ensure(Thread& thread, std::uint32_t key, void** record) {
    std::uint64_t* link = root_;
    for (;;) {
      std::uint64_t found = thread.atomic(*link).load(simt::acquire);
      if (found == 0) {
        if (spare_ == nullptr) spare_ = static_cast<Node*>(session_.malloc(thread, sizeof(Node)));
        if (spare_ == nullptr) return nullptr;
        *spare_ = {key, 0, 0, 0, 0};
        if (thread.atomic(*link).compare_exchange(found, reinterpret_cast<std::uint64_t>(spare_), simt::acq_rel,
                                                  simt::acquire)) {
          Node* const made = spare_;
          spare_ = nullptr;
          record[key] = made;
          return made;
        }
        thread.probe(simt::Step::retry);
      }
      Node* const node = reinterpret_cast<Node*>(found);
      if (node->key == key) {
        if (!hold_) drop_spare(thread);
        return node;
      }
      link = key < node->key ? &node->left : &node->right;
    }
  }

  // Adds an edge to the list of `source`. Returns null if memory ran out.
  template <class Thread>
  SIMT_FN Edge* add_edge(Thread& thread, Node* source, const Node* target) {
    Edge* const edge = static_cast<Edge*>(session_.malloc(thread, sizeof(Edge)));
    if (edge == nullptr) return nullptr;
    edge->target = reinterpret_cast<std::uint64_t>(target);
    const auto head = thread.atomic(source->edges);
    std::uint64_t first = head.load(simt::relaxed);
    do {
      edge->next = first;
    } while (!head.compare_exchange(first, reinterpret_cast<std::uint64_t>(edge), simt::release, simt::relaxed));
    return edge;
  }

  template <class Thread>
  SIMT_FN void drop_spare(Thread& thread) {
    if (spare_ == nullptr) return;
    session_.free(thread, spare_);
    spare_ = nullptr;
    ++frees_;
  }

  // Returns whether the next node needs no memory, because Builder keeps a node.
  SIMT_FN bool has_spare() const { return spare_ != nullptr; }
  // Returns the number of nodes freed so far. These nodes lost a race or were left over.
  SIMT_FN std::uint32_t frees() const { return frees_; }

 private:
  Session& session_;
  std::uint64_t* root_;
  Node* spare_ = nullptr;
  std::uint32_t frees_ = 0;
  bool hold_;
};

inline constexpr std::uint32_t node_bytes = sizeof(Node);
inline constexpr std::uint32_t edge_bytes = sizeof(Edge);

// The leader of a warp requests the memory for one arc of each lane. It first requests an edge and a node per lane, and
// then the second node of lanes that used the first. If an arc does not use its node, a later arc gets this node.
// Nothing inside a block is freed. Spliet et al., fig. 6, show how much time one request for a whole group saves.
template <class Session>
class WarpBlocks {
 public:
  SIMT_FN explicit WarpBlocks(Session& session) : session_(session) {}

  // Gets an edge (if `edge`) and a node (if the lane has none) for the lanes with `wants`, which must include the
  // leader. `has_spare` says that Builder keeps a node. All lanes of the warp that have not exited call this function
  // together. If they need a block, the leader stores its address in `record`. Returns false if memory ran out.
  template <class Thread>
  SIMT_FN bool refill(Thread& thread, bool wants, bool edge, bool has_spare, void*& record) {
    const auto warp = thread.warp();
    const bool node = wants && !has_spare && node_ == 0;
    const std::uint32_t for_edge = wants && edge ? edge_bytes : 0;
    const std::uint32_t own = for_edge + (node ? node_bytes : 0);
    const std::uint32_t before = warp.exclusive_sum(own);
    const std::uint32_t all = warp.reduce_add(own);
    if (all == 0) return true;
    std::uint64_t begin = 0;
    if (warp.leader()) {
      record = session_.malloc(thread, all);
      begin = reinterpret_cast<std::uint64_t>(record);
    }
    begin = warp.broadcast(begin);
    warp.sync();  // the leader has acquired the block; the others get it from the leader
    if (begin == 0) return false;
    if (for_edge != 0) edge_ = begin + before;
    if (node) node_ = begin + before + for_edge;
    return true;
  }

  // Returns the memory for Builder's requests between two refills: at most one edge and one node.
  template <class Thread>
  SIMT_FN void* malloc(Thread&, std::size_t bytes) {
    std::uint64_t& place = bytes == sizeof(Edge) ? edge_ : node_;
    const std::uint64_t taken = place;
    place = 0;
    return reinterpret_cast<void*>(taken);
  }
  // Does nothing, because a single node is only a part of a block.
  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

 private:
  Session& session_;
  std::uint64_t edge_ = 0;  // address of an unused edge; 0: none
  std::uint64_t node_ = 0;
};

}  // namespace allocbench::graph
