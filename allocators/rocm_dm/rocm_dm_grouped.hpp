// In the development version of ROCm's device malloc, the lanes that request one block size reserve blocks together
// before they search.
//
// Code: ROCm device libraries, ockl/src/dm.cl, "Increase parallelism in dm" (ROCm/llvm-project pull requests 551 and
// 811, November and December 2025; not the later pull request 2237). There is no paper.
//
// Idea: This version works as the one in rocm_dm.hpp, except for these points.
// * malloc: The lanes of each size work together, all sizes at the same time. The leader adds their number to the count
//   of a slab that has less than 85 % of its usable blocks in use. If the slab has too few free blocks, the leader
//   subtracts the number again and continues with the next slab. After a successful addition there is a bit for every
//   lane, so each lane searches until it has one.
// * free: The lanes of each slab work together, all slabs at the same time.
//
// Data: kinds.hpp and heap.hpp describe the data. The search begins at the last slab that accepted a reservation.
//
// Differs from the code:
// * All differences of rocm_dm.hpp apply.
// * The lanes of a wave search together. A lane that must search again waits until the makers of its wave are done. On
//   AMD GPUs the lanes of a wave advance in lock step anyway. On other GPUs, lanes that search repeatedly would delay
//   the makers of their wave.
// * If the pool is empty, a slab serves the lanes for which it has room, and the others continue. In this case the
//   check of the original ignores the size of the group. So at 65,792 slabs, a group of the original may reserve blocks
//   that do not exist and search forever.
// * A group that is larger than a slab takes the available blocks. This cannot happen with slabs of 2 MiB.
//
// As published: The maker of a slab stores its count before it wins the record (`count_order`). This is harmless if no
// maker takes longer than the interval. A slower maker overwrites the count in a record that the next maker has won.
// Later reservations then exceed the clear bits (docs/findings.md). Clearing a bit releases, but setting a bit does not
// acquire (`bit_orders`).
#pragma once

#include "allocators/rocm_dm/make_heap.hpp"

namespace allocbench {

class RocmDmGrouped {
 public:
  using Parameters = rocm_dm::GroupedParameters;
  static constexpr Traits traits{.name = "rocm_dm_grouped",
                                 .display_name = "ROCm dm, grouped",
                                 .paper = "ROCm device libraries (development, December 2025), ockl/src/dm.cl",
                                 .summary =
                                     "slabs with bits; the lanes of each size reserve blocks by one addition, then "
                                     "search until they have them; pool-backed",
                                 .form = Form::published,
                                 .zero = ZeroBytes::null};

  static std::size_t max_request(std::size_t, const Parameters& parameters) {
    return rocm_dm::Kind::bytes_of(rocm_dm::Kind::of_request(static_cast<std::uint32_t>(parameters.max_block_bytes)));
  }
  // The heap has the same sizes as the small heap of RocmDm.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.slab_bytes = 512;
    parameters.max_block_bytes = 192;
    parameters.large_alignment_bytes = 256;
    return {.pool_bytes = 3 * 512, .parameters = parameters, .serves_other_sizes = 0};
  }

  static RocmDmGrouped create(Arena& arena, const Parameters& parameters) {
    RocmDmGrouped allocator;
    allocator.heap_ = rocm_dm::make_heap(arena, parameters, traits.name);
    allocator.heap_.counts_first = parameters.counts_first();
    return allocator;
  }
  void reset(simt::Stream& stream) { rocm_dm::reset_heap(stream, heap_); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes == 0 || heap_.limit.refuses(bytes)) return nullptr;
    const auto wave = thread.converged();
    const std::uint32_t kind = rocm_dm::Kind::of_request(static_cast<std::uint32_t>(bytes));
    auto group = wave.match_any(kind);
    std::uint32_t tried = kind;
    void* block = nullptr;
    bool seeks = true;
    SIMT_ROLLED
    do {
      if (seeks) seeks = look(thread, group, kind, tried, block);
    } while (wave.any(seeks));
    return block;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const rocm_dm::Found found = heap_.slab_of(thread, block);
    const auto group = thread.converged().match_any(found.slab);
    heap_.clear_bit(thread, found, block);
    group.sync();  // the leader's release covers all lanes
    if (group.leader()) heap_.lower_count(thread, found, group.num_threads());
  }

  std::string broken_invariant(simt::Stream& stream) const { return rocm_dm::broken_record(stream, heap_); }

  const rocm_dm::Heap& heap() const { return heap_; }

 private:
  // Takes a block for each lane of the group. All lanes have a reservation, so there is a bit for each.
  template <class Thread, class Group>
  SIMT_FN void* take_block(Thread& thread, const Group& group, const rocm_dm::Found& found) const {
    const rocm_dm::Kind& size = heap_.kinds[found.kind];
    const std::uint32_t words = size.words();
    std::uint32_t word = heap_.first_word(thread, group, found.slab, size.blocks);
    SIMT_ROLLED
    for (;;) {
      const std::uint32_t block = heap_.try_word(thread, found.slab, word);
      if (block != rocm_dm::Heap::no_block) return heap_.address(size, found.slab, block);
      thread.probe(simt::Step::walk);
      if (++word == words) word = 0;
    }
  }

  // Tries once to get blocks of kind `tried` for the group, in a slab with room or else in a new slab. If no slab can
  // be made, the group looks in nearly full slabs. If these grant nothing either, the group tries larger blocks next.
  // Returns false if the lane has its block or there is none for it. Returns true if the lane must look again; `group`
  // then contains the lanes that must look again.
  template <class Thread, class Group>
  SIMT_FN bool look(Thread& thread, Group& group, std::uint32_t kind, std::uint32_t& tried, void*& block) const {
    std::uint32_t slabs = 0;
    std::uint32_t granted = 0;
    const std::uint32_t usable = heap_.kinds[tried].usable;
    rocm_dm::Found found = find(thread, group, tried, heap_.kinds[tried].skip_from, false, slabs, granted);
    if (granted == 0) {
      const std::uint32_t most = group.num_threads() < usable ? group.num_threads() : usable;
      const rocm_dm::Heap::Growth growth = heap_.grow(thread, group, tried, slabs, most, found);
      if (growth == rocm_dm::Heap::look_again) return true;
      if (growth == rocm_dm::Heap::made) granted = most;
    }
    if (granted == 0) found = find(thread, group, tried, usable, true, slabs, granted);
    if (granted == 0) {
      tried = rocm_dm::Kind::next_power(tried);
      return tried <= heap_.last_kind;
    }
    tried = kind;
    const bool lucky = group.thread_rank() < granted;
    group = group.partition(lucky);
    if (lucky) block = take_block(thread, group, found);
    return !lucky;
  }

  // Finds a slab with enough blocks. In each step the lanes check one record each, and the leader asks every slab with
  // fewer than `below` blocks in use, in turn. A slab must grant blocks to the whole group; with `enough`, a part of
  // the group suffices. Sets `slabs` to the number of records of the kind, and `granted` to that of granted blocks.
  template <class Thread, class Group>
  SIMT_FN rocm_dm::Found find(Thread& thread, const Group& group, std::uint32_t kind, std::uint32_t below, bool enough,
                              std::uint32_t& slabs, std::uint32_t& granted) const {
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
      const bool room = number < slabs && thread.atomic(heap_.record(kind, index).used).load(simt::relaxed) < below;
      for (simt::LaneMask votes = group.ballot(room); votes != 0; votes &= votes - 1) {
        const std::uint32_t chosen = group.shfl_lane(index, simt::count_trailing_zeros(votes));
        std::uint64_t slab = 0;
        if (group.leader()) {
          granted = ask(thread, heap_.record(kind, chosen), lanes, heap_.kinds[kind].usable, enough);
          if (granted != 0) {
            slab = thread.atomic(heap_.record(kind, chosen).slab).load(simt::relaxed);
            if (chosen != start) thread.atomic(state.start).store(chosen, simt::relaxed);
          }
        }
        granted = group.broadcast(granted);
        if (granted == 0) continue;
        group.sync();  // the leader's acquire covers all lanes
        return {group.broadcast(slab), kind, chosen};
      }
    }
    return {};
  }

  // Returns how many of the `wanted` blocks the slab grants: all or none; with `enough`, possibly some of them.
  template <class Thread>
  SIMT_FN std::uint32_t ask(Thread& thread, rocm_dm::Record& record, std::uint32_t wanted, std::uint32_t usable,
                            bool enough) const {
    const auto used = thread.atomic(record.used);
    const std::uint32_t before = heap_.orders.setting([&](auto order) { return used.fetch_add(wanted, order); });
    if (before + wanted <= usable) return wanted;
    const std::uint32_t granted = enough && before < usable ? usable - before : 0;
    thread.probe(simt::Step::retry);
    used.fetch_sub(wanted - granted, simt::relaxed);
    return granted;
  }

  rocm_dm::Heap heap_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(rocm_dm_grouped, RocmDmGrouped)
