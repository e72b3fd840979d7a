// A model: the small program in which `allocbench check` searches an allocator for bugs.
//
// Rare interleavings of a big program are common ones of a small program on a small heap: 2 to 64 lanes, a few requests
// each. A model is data, so that users write their own (docs/find-allocator-bugs.md) and the same compiled kernel runs
// them all. Every lane executes the steps in order, `rounds` times; what a malloc returns goes into the lane's mailbox
// of that slot, and a free empties a mailbox of any lane. The mailbox is handed over with release and acquire: an
// allocator that needs more order than that between malloc and free of one block is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allocbench::protocol {

// No small heap has room for so many.
inline constexpr std::uint64_t least_refused_bytes = std::uint64_t{1} << 31;

// Bytes of a request, as a model says them: a count, or a share of the pool. Never more than the allocator serves, but
// from least_refused_bytes on as they are.
struct ModelSize {
  std::uint64_t bytes = 0;
  std::uint32_t pool_share = 0;  // n = the n-th part of the pool; 0 = `bytes` counts
};

enum class ModelAction : std::uint8_t {
  malloc,     // a request into an empty mailbox of my own; a full one is left as it is
  free,       // empties a mailbox, mine or another lane's, and frees what was in it
  free_null,  // frees the null pointer, which must change nothing
  barrier,    // all lanes of the block meet
};

// Which lanes take a step. Lanes that are left out skip it, so the others call from divergent code.
struct ModelLanes {
  std::uint32_t every = 1;  // lanes whose rank in the grid is `first` modulo `every`
  std::uint32_t first = 0;

  bool contains(std::uint32_t rank) const { return rank % every == first; }
};

struct ModelStep {
  ModelAction action = ModelAction::malloc;
  std::uint32_t slot = 0;
  ModelLanes lanes = {};
  // malloc: position in Model::sizes; the round and the lane are added where `spread` is set, so that lanes ask for
  // different sizes.
  std::uint32_t size = 0;
  bool spread = false;
  // free: whose mailbox, counted in lanes from mine, around the grid.
  std::uint32_t from = 0;
  // malloc, free and free_null: stands for as many steps, on as many slots, as all its lanes need to ask for more than
  // a fresh heap serves. How many that is depends on the allocator, so the search counts first (check/filling.hpp).
  bool fills = false;
};

// Of the small heaps that the allocator names.
enum class ModelHeap : std::uint8_t { first, second, many_units };

struct Model {
  std::string name;
  std::string description;
  // That run at once, each of so many blocks. Ranks count through all of them.
  std::uint32_t kernels = 1;
  std::uint32_t blocks = 1;
  std::uint32_t threads_per_block = 32;
  std::uint32_t rounds = 1;
  std::uint32_t launches = 1;  // of the same steps; launches order memory, steps do not
  std::vector<ModelSize> sizes = {{16, 0}};
  std::vector<ModelStep> steps;
  // A null pointer is a failed check: the model never asks for more than any small heap holds.
  bool null_is_failure = false;
  // The heap is reset before each launch but the first, with blocks still live, and once more before the end. Then one
  // lane alone must get as many blocks of each size as from a fresh heap.
  bool resets = false;
  // At the end, when all blocks are free, one lane alone must get as many blocks of each size, in the order of `sizes`,
  // as from a fresh heap (SmallHeap::serves_other_sizes).
  bool refills = false;
  ModelHeap heap = ModelHeap::first;

  std::uint32_t lanes() const { return kernels * blocks * threads_per_block; }
  std::uint32_t slots() const;
  std::uint64_t requests_per_launch() const;
  // All requests have one size: then what the heap once held together it must hold again after everything was freed.
  bool single_size() const { return sizes.size() == 1; }
  bool has_partial_warps() const;
  bool fills() const;
  bool asks_too_much() const;
};

// What is wrong with a model, for its author; empty when it can run.
std::string broken_rule(const Model& model);

}  // namespace allocbench::protocol
