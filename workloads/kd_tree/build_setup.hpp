// BuildSetup is the data of the build kernel, passed by value. BuildMemory lays it out on the host.
#pragma once

#include <cstdint>

#include "workloads/kd_tree/split_rules.hpp"
#include "workloads/kd_tree/tree.hpp"
#include "workloads/kd_tree/work_queue.hpp"

namespace allocbench::kd_tree {

// A node with too many references for one warp. The parts of its list are tasks of the queue. They first count the
// references on both sides of each plane, then write the lists of the children. The warp that finishes the last part
// continues with the node.
struct alignas(16) SharedNode {
  Task task;
  std::uint32_t* lists[2];  // lists of the children
  std::uint32_t counts[2];
  std::uint32_t plane;
  float position;
  std::uint32_t fails;      // 1 if the split fails, otherwise 0
  std::uint32_t splitting;  // 1 while parts write, 0 while they count
  std::uint32_t parts_left;
  std::uint32_t cursors[2];  // next free place in each child's list
  std::uint32_t sides[2 * plane_count];
};

// Totals to which each warp adds its sums when it ends.
struct BuildTotals {
  RequestStatistics requests;
  std::uint64_t frees;
  std::uint64_t address_bits;  // bitwise or of all blocks' addresses
  std::uint64_t not_lowest;    // complement of the lowest address, so that zero is neutral
  std::uint64_t end;           // end address of the highest block
};

struct BuildSetup {
  static constexpr std::uint32_t shared_node_words = 32;
  static constexpr std::uint32_t most_shared_nodes = 32 * shared_node_words;

  const TriangleBox* boxes;
  std::uint32_t triangles;
  std::uint32_t* root_list;
  Box bounds;
  Limits limits;
  std::uint32_t padding_bytes;  // power of two to which request sizes are rounded up

  std::uint32_t solo_references;  // nodes with more references are shared among warps
  std::uint32_t part_references;
  std::uint32_t most_parts;  // parts that may be in the queue at once

  WorkQueue queue;
  SharedNode* shared_nodes;
  std::uint32_t* shared_node_bits;  // one bit per shared node in use
  SharedWord* parts;                // parts that are in the queue or may come into it
  SharedWord* out_of_memory;        // 0, or the size of a failed request in units of 4 B, plus one
  Task* stacks;                     // stack_slots tasks per warp
  std::uint32_t stack_slots;

  Node* nodes;
  std::uint32_t* leaf_references;
  std::uint32_t most_pairs;  // capacity in pairs of nodes
  std::uint32_t most_references;
  std::uint64_t* used;  // used pairs of nodes in the upper half, used references in the lower half
  SharedWord* overflow;
  BuildTotals* totals;

  std::uint32_t warps;
};

}  // namespace allocbench::kd_tree
