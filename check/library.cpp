#include "check/library.hpp"

#include <algorithm>

namespace allocbench::check {
namespace {

// The first size is 2^32 + 1 units of 16 bytes. An allocator that counts units in 32 bits takes this number for 1.
// CUDA's device heap treats the second size as a small one.
constexpr std::uint64_t large_count_of_units = (std::uint64_t{1} << 36) + 16;
constexpr std::uint64_t largest_request = ~std::uint64_t{0};

constexpr Lanes all = {};
constexpr Lanes even = {2, 0};
constexpr Lanes odd = {2, 1};

Step request(std::uint32_t slot, Lanes lanes = all, std::uint32_t size = 0) {
  return {.action = Action::malloc, .slot = slot, .lanes = lanes, .size = size};
}
// Makes a malloc step whose sizes differ between lanes and between rounds.
Step request_spread(std::uint32_t slot, Lanes lanes = all) {
  return {.action = Action::malloc, .slot = slot, .lanes = lanes, .spread = true};
}
Step give_back(std::uint32_t slot, std::uint32_t from = 0, Lanes lanes = all) {
  return {.action = Action::free, .slot = slot, .lanes = lanes, .from = from};
}

Step free_null() { return {.action = Action::free_null}; }

std::vector<Step> fill_and_empty(std::uint32_t slots, std::uint32_t size = 0) {
  std::vector<Step> steps;
  for (std::uint32_t slot = 0; slot < slots; ++slot) steps.push_back(request(slot, all, size));
  for (std::uint32_t slot = 0; slot < slots; ++slot) steps.push_back(give_back(slot));
  return steps;
}

// These models have few lanes and few blocks.
std::vector<Model> models_of_few_lanes() {
  return {
      {.name = "one_lane",
       .description = "one lane alone: it allocates several sizes and frees the blocks in another order",
       .threads_per_block = 1,
       .rounds = 6,
       .sizes = {{16}, {40}, {100}},
       .steps = {request_spread(0), request_spread(1), give_back(0), request_spread(2), give_back(2), give_back(1)}},
      {.name = "pair",
       .description = "two lanes alternate malloc and free: every step of one can run beside every step of the other",
       .threads_per_block = 2,
       .rounds = 4,
       .steps = {request(0), give_back(0)},
       .null_is_failure = true},
      {.name = "ping_pong",
       .description = "four lanes alternate malloc and free: blocks are reused immediately",
       .threads_per_block = 4,
       .rounds = 6,
       .steps = {request(0), give_back(0)},
       .null_is_failure = true},
      {.name = "ring",
       .description = "three lanes free each other's blocks: the frees of one lane run beside the mallocs of another",
       .threads_per_block = 3,
       .rounds = 6,
       .steps = {request(0), request(1), give_back(0, 1), give_back(1, 2)},
       .null_is_failure = false}};
}

// These models test whole and partial warps, several thread blocks, and several kernels.
std::vector<Model> models_of_warps() {
  return {
      {.name = "storm",
       .description = "a full warp allocates together, then frees together, twice",
       .rounds = 2,
       .steps = {request(0), give_back(0)}},
      {.name = "cross_warp_free",
       .description = "two warps; each lane's block is freed by the other warp",
       .threads_per_block = 64,
       .rounds = 3,
       .steps = {request(0), give_back(0, 32)}},
      {.name = "exhaustion",
       .description = "sixteen lanes make six requests each, often too many for the heap, free all, and ask again",
       .threads_per_block = 16,
       .rounds = 2,
       .steps = fill_and_empty(6)},
      {.name = "crowded_warp",
       .description = "a full warp makes 13 requests per lane, often too many for the heap, frees all, and asks again",
       .rounds = 2,
       .steps = fill_and_empty(13)},
      {.name = "last_blocks",
       .description = "six lanes compete for a heap of a few large blocks",
       .threads_per_block = 6,
       .rounds = 4,
       .sizes = {{0, 4}},
       .steps = {request(0), give_back(0)}},
      {.name = "mixed_sizes",
       .description = "sixteen lanes with five sizes: units are bound to a size, emptied and bound again",
       .threads_per_block = 16,
       .rounds = 3,
       .sizes = {{16}, {48}, {112}, {240}, {0, 8}},
       .steps = {request_spread(0), request_spread(1), give_back(0), request_spread(2), give_back(1), give_back(2)}},
      {.name = "partial_warps",
       .description = "two blocks of 20 lanes: the last warp of a block is never full",
       .blocks = 2,
       .threads_per_block = 20,
       .rounds = 2,
       .steps = {request(0), give_back(0, 1)}},
      {.name = "divergent",
       .description = "even lanes allocate while odd lanes of the same warp free",
       .rounds = 3,
       .steps = {request(0, even), give_back(1, 0, odd), request(1, odd), give_back(0, 0, even)}},
      {.name = "few_callers",
       .description = "four of a warp's 32 lanes call; the others skip the calls",
       .rounds = 3,
       .steps = {request(0, {8, 3}), request(1, {8, 3}), give_back(0, 0, {8, 3}), give_back(1, 0, {8, 3})}},
      {.name = "blocks",
       .description = "six small blocks of threads on several SMs: states of different SMs and warps interact",
       .blocks = 6,
       .threads_per_block = 5,
       .rounds = 2,
       .steps = {request(0), request(1), give_back(0, 5), give_back(1)}},
      {.name = "kernels",
       .description = "two kernels at once on one heap free each other's blocks: every rank in the grid exists twice",
       .kernels = 2,
       .blocks = 2,
       .threads_per_block = 8,
       .rounds = 2,
       .steps = {request(0), request(1, even), give_back(0, 16), give_back(1, 3)}}};
}

// These models test several launches, heaps that become empty again, and rare calls.
std::vector<Model> models_of_whole_heaps() {
  return {
      {.name = "launches",
       .description = "blocks outlive their launch, and another warp frees them in the next one",
       .threads_per_block = 40,
       .launches = 3,
       .steps = {give_back(0, 33), request(0), give_back(1, 7), request(1)}},
      {.name = "after_failure",
       .description = "most requests for half the pool fail; small ones and a second try must still work",
       .threads_per_block = 8,
       .rounds = 3,
       .sizes = {{0, 2}, {16}},
       .steps = {request(0, all, 0), request(1, all, 1), give_back(0), request(0, all, 0), give_back(0), give_back(1)}},
      {.name = "small_then_large",
       .description = "eight lanes fill the heap with small blocks and free all of them; then large blocks must fit",
       .threads_per_block = 8,
       .sizes = {{0, 4}, {16}},
       .steps = fill_and_empty(8, 1),
       .refills = true},
      {.name = "large_then_small",
       .description = "six lanes fill the heap with large blocks and free all of them; then small blocks must fit",
       .threads_per_block = 6,
       .rounds = 2,
       .sizes = {{16}, {0, 4}},
       .steps = fill_and_empty(2, 1),
       .refills = true},
      {.name = "free_null",
       .description = "four lanes free null pointers between their mallocs and frees",
       .threads_per_block = 4,
       .rounds = 4,
       .steps = {request(0), free_null(), give_back(0), free_null()},
       .null_is_failure = true},
      {.name = "reset",
       .description = "the heap is reset between launches while blocks are in use; it must then serve like a new heap",
       .threads_per_block = 8,
       .launches = 3,
       .sizes = {{16}, {40}},
       .steps = {request(0), request(1, all, 1), request(2), give_back(0), request(3, even), give_back(2, 1)},
       .resets = true}};
}

Step fill(std::uint32_t slots, std::uint32_t size = 0, Lanes lanes = all) {
  return {.action = Action::malloc, .slot = slots, .lanes = lanes, .size = size, .fills = true};
}
Step fill_spread(std::uint32_t slots) {
  return {.action = Action::malloc, .slot = slots, .spread = true, .fills = true};
}
Step empty(std::uint32_t slots, std::uint32_t from = 0, Lanes lanes = all) {
  return {.action = Action::free, .slot = slots, .lanes = lanes, .from = from, .fills = true};
}
// Makes a step in which each lane frees a null pointer once for every slot that `fill(slots)` takes.
Step free_nulls(std::uint32_t slots, Lanes lanes = all) {
  return {.action = Action::free_null, .slot = slots, .lanes = lanes, .fills = true};
}

// These models request more memory than the heap has, unless filled() limits their requests.
std::vector<Model> models_of_full_heaps() {
  return {
      {.name = "full_warp",
       .description = "a full warp takes the whole heap; then half of it is freed and the neighbours take it",
       .steps = {fill(0), empty(0, 1, even), fill(0), empty(0)}},
      {.name = "full_of_sizes",
       .description = "sixteen lanes fill the heap with five sizes at once, free all blocks, and fill it again",
       .threads_per_block = 16,
       .rounds = 2,
       .sizes = {{16}, {40}, {72}, {136}, {264}},
       .steps = {fill_spread(0), empty(0, 3)}},
      {.name = "waves",
       .description = "a full warp fills the heap with one size, frees all blocks, and fills it with the next size; "
                      "then both must fit",
       .rounds = 2,
       .sizes = {{16}, {32}},
       .steps = {fill(0, 0), empty(0), fill(1, 1), empty(1)},
       .refills = true},
      {.name = "close_sizes",
       .description = "eight lanes fill the heap with similar sizes while their neighbours free the blocks",
       .threads_per_block = 8,
       .rounds = 2,
       .sizes = {{16}, {20}, {24}, {32}, {40}, {48}},
       .steps = {fill_spread(0), empty(0, 1, even), request_spread(1), empty(0, 1, odd), give_back(1)}},
      {.name = "large_sizes",
       .description = "eight lanes compete for a heap of large blocks of several sizes; then the smallest must fit",
       .threads_per_block = 8,
       .rounds = 3,
       .sizes = {{0, 16}, {0, 8}, {0, 5}, {0, 3}, {0, 2}, {0, 1}},
       .steps = {request_spread(0), request_spread(1), give_back(0, 1), request_spread(0), give_back(1), give_back(0)}},
      {.name = "thin_units",
       .description = "eight lanes allocate and free blocks of an eighth of the heap: units of few blocks are emptied "
                      "and bound again all the time",
       .threads_per_block = 8,
       .rounds = 5,
       .sizes = {{0, 8}},
       .steps = {request(0), request(1, even), give_back(0, 1), give_back(1, 3)}},
      {.name = "full_of_large",
       .description = "four lanes fill the heap with blocks of an eighth and a sixteenth of it, then with small blocks",
       .threads_per_block = 4,
       .rounds = 2,
       .sizes = {{16}, {0, 16}, {0, 8}},
       .steps = {fill(0, 2), empty(0, 1), fill(0, 1), empty(0), fill(1, 0), empty(1)}},
      {.name = "full_blocks",
       .description = "three blocks on several SMs fill the heap and free what others hold",
       .blocks = 3,
       .threads_per_block = 8,
       .rounds = 2,
       .steps = {fill(0), empty(0, 9)}}};
}

// These models free null pointers, reset a full heap, or request more bytes than any heap has.
std::vector<Model> models_of_nulls_and_resets() {
  return {
      {.name = "full_of_nulls",
       .description = "eight lanes free null pointers while the heap is full; then one lane must get the whole heap",
       .threads_per_block = 8,
       .steps = {free_nulls(0), fill(0), free_nulls(0), request(1), empty(0), free_nulls(0), give_back(1)},
       .refills = true},
      {.name = "full_reset",
       .description =
           "a full warp fills the heap, which is reset while blocks are in use; it must then serve like a new heap",
       .launches = 2,
       .sizes = {{16}, {40}},
       .steps = {fill(0), empty(0, 1, even), request(1, all, 1)},
       .resets = true},
      {.name = "too_large",
       .description = "four lanes ask for more bytes than any heap has, between requests that fit",
       .threads_per_block = 4,
       .rounds = 5,
       .sizes = {{16}, {0xffffffff}, {protocol::least_refused_bytes}, {large_count_of_units}, {largest_request}},
       .steps = {request_spread(0), request_spread(1), give_back(0), give_back(1)}}};
}

// These models use the allocator's second small heap, in which other rules of the design may apply.
std::vector<Model> models_of_second_heaps() {
  return {{.name = "second_heap",
           .description = "eight lanes fill the allocator's second small heap with one size",
           .threads_per_block = 8,
           .rounds = 2,
           .steps = {fill(0), empty(0, 1)},
           .heap = protocol::ModelHeap::second},
          {.name = "refilled_second_heap",
           .description = "eight lanes fill the allocator's second small heap, free half of it, and fill it again",
           .threads_per_block = 8,
           .rounds = 2,
           .steps = {fill(0), empty(0, 1, even), fill(0), empty(0, 1)},
           .heap = protocol::ModelHeap::second},
          {.name = "second_heap_sizes",
           .description = "a full warp fills the allocator's second small heap with four sizes",
           .sizes = {{16}, {32}, {96}, {0, 8}},
           .steps = {fill_spread(0), empty(0, 1), request_spread(1), give_back(1)},
           .heap = protocol::ModelHeap::second},
          {.name = "second_heap_turns",
           .description = "two warps alternately take small and large blocks of the second small heap, and free each "
                          "other's blocks and null",
           .threads_per_block = 64,
           .rounds = 2,
           .sizes = {{16}, {0, 4}, {48}, {0, 16}},
           .steps = {request_spread(0), request_spread(1), free_null(), give_back(0, 32), request_spread(2, even),
                     give_back(1, 5), give_back(2, 32)},
           .heap = protocol::ModelHeap::second}};
}

// These models use heaps with more units than a word has bits.
std::vector<Model> models_of_many_units() {
  return {{.name = "many_units",
           .description = "a full warp fills the allocator's heap of many small units",
           .sizes = {{128}},
           .steps = {fill(0), empty(0, 1)},
           .heap = protocol::ModelHeap::many_units}};
}

std::vector<Model> make_library() {
  std::vector<Model> models = models_of_few_lanes();
  for (const auto& more : {models_of_warps(), models_of_whole_heaps(), models_of_full_heaps(),
                           models_of_nulls_and_resets(), models_of_second_heaps(), models_of_many_units()}) {
    models.insert(models.end(), more.begin(), more.end());
  }
  return models;
}

}  // namespace

const std::vector<Model>& model_library() {
  static const std::vector<Model> models = make_library();
  return models;
}

const Model* find_model(std::string_view name) {
  const auto& models = model_library();
  const auto found = std::find_if(models.begin(), models.end(), [&](const Model& each) { return each.name == name; });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace allocbench::check
