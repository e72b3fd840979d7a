// The data of the build kernel, passed by value. BuildMemory lays it out on the host.
#pragma once

#include <cstdint>

#include "workloads/kd_tree/split_rules.hpp"
#include "workloads/kd_tree/tree.hpp"
#include "workloads/kd_tree/work_queue.hpp"

namespace allocbench::kd_tree {

// A node with too many references for one warp. The parts of its list are tasks of the queue, first to count the sides
// of the planes, then to write the lists of the children. The warp that finishes the last part continues with the node.
struct alignas(16) SharedNode {
  Task task;
  std::uint32_t* lists[2];  // of the children
  std::uint32_t counts[2];
  std::uint32_t plane;
  float position;
  std::uint32_t fails;      // whether the split does
  std::uint32_t splitting;  // 0: parts count, 1: parts write
  std::uint32_t parts_left;
  std::uint32_t cursors[2];  // next free places of the children's lists
  std::uint32_t sides[2 * plane_count];
};

// The sums that all warps add to at their end, and the reason of an early end.
struct BuildTotals {
  RequestStatistics requests;
  std::uint64_t frees;
  std::uint64_t address_bits;  // of all blocks, or-ed
  std::uint64_t not_lowest;    // complement of the lowest address: zero is neutral
  std::uint64_t end;           // behind the highest block
};

struct BuildSetup {
  static constexpr std::uint32_t shared_node_words = 32;
  static constexpr std::uint32_t most_shared_nodes = 32 * shared_node_words;

  const TriangleBox* boxes;
  std::uint32_t triangles;
  std::uint32_t* root_list;
  Box bounds;
  Limits limits;
  std::uint32_t padding_bytes;  // requests are rounded up to it, a power of two

  std::uint32_t solo_references;  // nodes with more are shared among warps
  std::uint32_t part_references;
  std::uint32_t most_parts;  // in the queue together

  WorkQueue queue;
  SharedNode* shared_nodes;
  std::uint32_t* shared_node_bits;  // a bit per shared node in use
  SharedWord* parts;                // that are in the queue or may come into it
  SharedWord* out_of_memory;        // 0, or what was asked for in units of 4 B, plus one
  Task* stacks;                     // stack_slots per warp
  std::uint32_t stack_slots;

  Node* nodes;
  std::uint32_t* leaf_references;
  std::uint32_t most_pairs;  // of nodes
  std::uint32_t most_references;
  std::uint64_t* used;  // pairs of nodes in the upper half, references in the lower one
  SharedWord* overflow;
  BuildTotals* totals;

  std::uint32_t warps;
};

}  // namespace allocbench::kd_tree
