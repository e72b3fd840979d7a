// ROCm's device malloc, the released version, has slabs with bits and serves the lanes of a wave (AMD's word for a
// warp) one block size after the other.
//
// Code: ROCm device libraries, ockl/src/dm.cl (ROCm/llvm-project fa77110), in every release up to ROCm 7.2. On AMD
// GPUs, malloc, free and new in a HIP kernel call this code. There is no paper.
//
// Idea:
// * malloc: The lanes that request the block size of the first lane work together, and the others wait. In each step of
//   the search, every working lane checks the record of a different slab. The group chooses the first slab that has
//   less than 85 % of its usable blocks in use. If there is none, the group makes a new slab. In the slab, each lane
//   begins at its own word and checks every word at most once; an OR takes a bit. Then one addition to the slab's
//   record counts the lanes that won a bit, and the other lanes begin again.
// * free: The lanes of one slab work together, and the others wait. Each lane clears its bit. Then one subtraction
//   lowers the count of the slab for all.
//
// Data: kinds.hpp and heap.hpp describe the data.
//
// Differs from the code:
// * In this form, waves have 32 lanes. On AMD GPUs such as the MI300, they have 64.
// * A pool of slabs in the arena replaces the host, from which the original requests slabs. Requests above
//   `max_block_bytes`, which the host serves in the original, get null. When the pool is empty, no slab can be made.
//   Then lanes try slabs that are at least 85 % full, and after them slabs of each larger power of two in turn. The
//   original does so at 65,792 slabs, but it tries only one larger power of two.
// * A maker that finds its record taken returns its slab. The records of a kind are one array. In the original they
//   have two levels, which grow by at most 256 records per 0.3 ms. Slabs are aligned relative to the start of the pool.
// * Plain stores write the bits of a new slab: zeros, 16 bytes at a time, and then the words with unusable blocks. The
//   original stores each word once. On NVIDIA's GPUs, by estimate, a lone lane would need about as long as the interval
//   for this.
// * Requests of 17 to 24 bytes get 32 bytes, because 24-byte blocks would be aligned only to 8 bytes.
// * Assumed: A lane that loses a bit continues with the next word. The search begins at the slab that was found last.
//
// As published: A size gets at most one slab per 200 us (`slab_interval`). Half of the blocks of 2,048 bytes are never
// used. Slabs keep their block size while kernels run. (The original has a kernel of its own that returns empty slabs;
// this form has none.) Bits and counts have no memory order (`bit_orders`).
#pragma once

#include "allocators/rocm_dm/make_heap.hpp"

namespace allocbench {

class RocmDm {
 public:
  using Parameters = rocm_dm::Parameters;
  static constexpr Traits traits{.name = "rocm_dm",
                                 .display_name = "ROCm dm",
                                 .paper = "ROCm device libraries (to 7.2), ockl/src/dm.cl",
                                 .summary =
                                     "slabs with bits; the lanes of a wave go together size by size and are counted "
                                     "after they have their blocks; pool-backed",
                                 .form = Form::published,
                                 .zero = ZeroBytes::null};

  static std::size_t max_request(std::size_t, const Parameters& parameters) {
    return rocm_dm::Kind::bytes_of(rocm_dm::Kind::of_request(static_cast<std::uint32_t>(parameters.max_block_bytes)));
  }
  // The pool has three slabs of 29 blocks of 16 bytes or 2 blocks of 192 bytes. Slabs never change their block size.
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 3 * 512,
            .parameters = {.slab_bytes = 512, .max_block_bytes = 192, .large_alignment_bytes = 256},
            .serves_other_sizes = 0};
  }

  static RocmDm create(Arena& arena, const Parameters& parameters) {
    RocmDm allocator;
    allocator.heap_ = rocm_dm::make_heap(arena, parameters, traits.name);
    return allocator;
  }
  void reset(simt::Stream& stream) { rocm_dm::reset_heap(stream, heap_); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes == 0 || heap_.limit.refuses(bytes)) return nullptr;
    const std::uint32_t kind = rocm_dm::Kind::of_request(static_cast<std::uint32_t>(bytes));
    const auto wave = thread.converged();
    void* block = nullptr;
    simt::LaneMask waiting = wave.mask();
    SIMT_ROLLED
    do {
      const std::uint32_t first = wave.shfl_lane(kind, simt::count_trailing_zeros(waiting));
      const bool mine = kind == first;
      const auto group = wave.partition(mine);
      if (mine) block = serve(thread, group, kind);
      waiting &= ~wave.ballot(mine);
    } while (waiting != 0);
    return block;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const rocm_dm::Found found = heap_.slab_of(thread, block);
    const auto wave = thread.converged();
    simt::LaneMask waiting = wave.mask();
    SIMT_ROLLED
    do {
      const std::uint64_t first = wave.shfl_lane(found.slab, simt::count_trailing_zeros(waiting));
      const bool mine = found.slab == first;
      const auto group = wave.partition(mine);
      if (mine) {
        heap_.clear_bit(thread, found, block);
        group.sync();  // the leader's release covers all lanes
        if (group.leader()) heap_.lower_count(thread, found, group.num_threads());
      }
      waiting &= ~wave.ballot(mine);
    } while (waiting != 0);
  }

  std::string broken_invariant(simt::Stream& stream) const { return rocm_dm::broken_record(stream, heap_); }

  const rocm_dm::Heap& heap() const { return heap_; }

 private:
  // Serves the lanes of the group with blocks of the kind, or with larger blocks if the slabs of the kind are full.
  // Lanes that have their block wait for the others.
  template <class Thread, class Group>
  SIMT_FN void* serve(Thread& thread, const Group& group, std::uint32_t kind) const {
    void* block = nullptr;
    bool seeks = true;
    SIMT_ROLLED
    for (;;) {
      const auto alike = group.partition(seeks);
      if (!seeks && alike.num_threads() == group.num_threads()) return block;
      if (!seeks) continue;
      const rocm_dm::Found found = find_or_grow(thread, alike, kind);
      if (found.slab == 0) {
        seeks = false;
        continue;
      }
      const rocm_dm::Kind& size = heap_.kinds[found.kind];
      const std::uint32_t index = take_bit(thread, alike, found.slab, size);
      const auto part = alike.partition(index != rocm_dm::Heap::no_block);
      if (index == rocm_dm::Heap::no_block) continue;
      if (part.leader()) {
        thread.atomic(heap_.record(found.kind, found.record).used).fetch_add(part.num_threads(), simt::relaxed);
      }
      block = heap_.address(size, found.slab, index);
      seeks = false;
    }
  }

  template <class Thread, class Group>
  SIMT_FN std::uint32_t take_bit(Thread& thread, const Group& group, std::uint64_t slab,
                                 const rocm_dm::Kind& size) const {
    const std::uint32_t words = size.words();
    std::uint32_t word = heap_.first_word(thread, group, slab, size.blocks);
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < words; ++i) {
      const std::uint32_t block = heap_.try_word(thread, slab, word);
      if (block != rocm_dm::Heap::no_block) return block;
      thread.probe(simt::Step::walk);
      if (++word == words) word = 0;
    }
    return rocm_dm::Heap::no_block;
  }

  // Returns a slab with room, the same for all lanes. If no slab can be made, the returned slab may be nearly full or
  // have larger blocks. The address is 0 if there is no such slab.
  template <class Thread, class Group>
  SIMT_FN rocm_dm::Found find_or_grow(Thread& thread, const Group& group, std::uint32_t kind) const {
    for (;;) {
      std::uint32_t slabs = 0;
      rocm_dm::Found found = find(thread, group, kind, heap_.kinds[kind].skip_from, slabs);
      if (found.slab != 0) return found;
      const rocm_dm::Heap::Growth growth = heap_.grow(thread, group, kind, slabs, 0, found);
      if (growth == rocm_dm::Heap::made) return found;
      if (growth == rocm_dm::Heap::look_again) continue;
      found = find(thread, group, kind, heap_.kinds[kind].usable, slabs);
      if (found.slab != 0) return found;
      kind = rocm_dm::Kind::next_power(kind);
      if (kind > heap_.last_kind) return {};
    }
  }

  // Finds a record with fewer than `below` blocks in use. The search begins at the slab that was found last, and in
  // each step the lanes check one record each. Sets `slabs` to the number of records of the kind.
  template <class Thread, class Group>
  SIMT_FN rocm_dm::Found find(Thread& thread, const Group& group, std::uint32_t kind, std::uint32_t below,
                              std::uint32_t& slabs) const {
    rocm_dm::KindState& state = heap_.states[kind];
    std::uint32_t start = 0;
    if (group.leader()) {
      start = thread.atomic(state.start).load(simt::relaxed);
      slabs = thread.atomic(state.slabs).load(simt::acquire);
    }
    start = group.broadcast(start);
    slabs = group.broadcast(slabs);
    group.sync();  // the leader's acquire covers all lanes
    const std::uint32_t lanes = group.num_threads();
    SIMT_ROLLED
    for (std::uint32_t seen = 0; seen < slabs; seen += lanes) {
      const std::uint32_t number = seen + group.thread_rank();
      const std::uint32_t index = (start + number) % slabs;
      const auto used = thread.atomic(heap_.record(kind, index).used);
      const bool room = number < slabs && heap_.orders.setting([&](auto order) { return used.load(order); }) < below;
      const simt::LaneMask votes = group.ballot(room);
      if (votes == 0) continue;
      const std::uint32_t chosen = group.shfl_lane(index, simt::count_trailing_zeros(votes));
      std::uint64_t slab = 0;
      if (group.leader()) {
        slab = thread.atomic(heap_.record(kind, chosen).slab).load(simt::relaxed);
        if (chosen != start) thread.atomic(state.start).store(chosen, simt::relaxed);
      }
      return {group.broadcast(slab), kind, chosen};
    }
    return {};
  }

  rocm_dm::Heap heap_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(rocm_dm, RocmDm)
