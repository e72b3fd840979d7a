// A model is the small program in which `allocbench check` searches an allocator for bugs.
//
// Interleavings that are rare in a large program are frequent in a program with a small heap, few lanes and a few
// requests per lane. A model is data, so users can write models (docs/find-allocator-bugs.md), and one compiled kernel
// per allocator runs them all. Every lane executes its steps in order, `rounds` times. Each lane has a mailbox for each
// slot. A malloc stores its result in the lane's mailbox for the slot of the step, and a free empties a mailbox of any
// lane. The hand-over of a block uses release and acquire. An allocator that needs a stronger order between malloc and
// free of a block is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allocbench::protocol {

// No small heap has room for this many bytes.
inline constexpr std::uint64_t least_refused_bytes = std::uint64_t{1} << 31;

// The bytes of a request in a model: a number, or a share of the pool. Sizes are limited to the largest request of the
// allocator, except sizes of least_refused_bytes and more.
struct ModelSize {
  std::uint64_t bytes = 0;
  std::uint32_t pool_share = 0;  // n for the n-th part of the pool; 0: `bytes` is used
};

enum class ModelAction : std::uint8_t {
  malloc,     // request for an empty mailbox of the lane; a full mailbox is not changed
  free,       // free of the block in a mailbox of any lane, which is then empty
  free_null,  // free of a null pointer, which must change nothing
  barrier,    // barrier of all lanes of the thread block
};

// The lanes that execute a step. The other lanes skip it, so the step's lanes call from divergent code.
struct ModelLanes {
  std::uint32_t every = 1;  // period: the step is for lanes whose rank over all kernels is `first` modulo `every`
  std::uint32_t first = 0;

  bool contains(std::uint32_t rank) const { return rank % every == first; }
};

struct ModelStep {
  ModelAction action = ModelAction::malloc;
  std::uint32_t slot = 0;
  ModelLanes lanes = {};
  // For malloc: index in Model::sizes. If `spread` is set, round and lane are added to the index, modulo the number of
  // sizes, so that lanes request different sizes.
  std::uint32_t size = 0;
  bool spread = false;
  // For free: the mailbox belongs to the lane whose rank is higher by this number, modulo lanes().
  std::uint32_t from = 0;
  // For malloc, free and free_null: whether the step is repeated on several slots. Then the mallocs of its lanes
  // request more than a fresh heap serves, within the bounds of check/filling.cpp. The number of slots depends on the
  // allocator, so the search first counts the blocks of a fresh heap.
  bool fills = false;
};

// One of the small heaps that the allocator defines.
enum class ModelHeap : std::uint8_t { first, second, many_units };

struct Model {
  std::string name;
  std::string description;
  // Number of kernels that run at once, each with `blocks` thread blocks. Ranks are counted over all kernels.
  std::uint32_t kernels = 1;
  std::uint32_t blocks = 1;
  std::uint32_t threads_per_block = 32;
  std::uint32_t rounds = 1;
  std::uint32_t launches = 1;  // launches of the same steps; each launch sees all writes of earlier ones
  std::vector<ModelSize> sizes = {{16, 0}};
  std::vector<ModelStep> steps;
  // Whether a null pointer is a failed check. Then the small heap of every allocator must have room for all requests of
  // the model.
  bool null_is_failure = false;
  // Whether the heap is reset before each launch except the first, even with live blocks, and before each check at the
  // end. In these checks, one lane alone must get as many blocks of each size as from a fresh heap. A warp and then one
  // lane must together get at least half of the blocks that they get from a fresh heap in the worst of 32 schedules.
  bool resets = false;
  // Whether the heap is checked again at the end, when all blocks are free. Then one lane alone must get blocks of each
  // size, in the order of `sizes`: at least the share of a fresh heap that the design promises (SmallHeap::serves_again
  // for one size, serves_other_sizes for several).
  bool refills = false;
  ModelHeap heap = ModelHeap::first;

  std::uint32_t lanes() const { return kernels * blocks * threads_per_block; }
  std::uint32_t slots() const;
  std::uint64_t requests_per_launch() const;
  // Returns whether all requests have one size. Then a heap that frees single blocks must serve the promised share of
  // the blocks again (SmallHeap::serves_again) after all were freed.
  bool single_size() const { return sizes.size() == 1; }
  bool has_partial_warps() const;
  bool fills() const;
  bool asks_too_much() const;
};

// Returns the first rule that a model breaks, as a text for its author, or an empty text if the model can run.
std::string broken_rule(const Model& model);

}  // namespace allocbench::protocol
