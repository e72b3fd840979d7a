// A StaticSession takes slices from slots with static counters (static_slots.hpp) and keeps a lane's state between
// requests.
#pragma once

#include "allocators/gallatin/requests.hpp"
#include "allocators/gallatin/static_slots.hpp"
#include "allocators/support/common/tiles.hpp"

namespace allocbench::gallatin {

// StaticSession is the state of a lane during a kernel: the context of its last class. Lanes of a tile that call
// together with one class use the context of the first of these lanes.
template <StaticBug bug>
class StaticSession {
 public:
  SIMT_FN StaticSession(const Heap& heap, const Slots& slots, RequestLimit limit, Tiles tiles, bool remember,
                        std::uint32_t tile)
      : heap_(heap), slots_(slots), limit_(limit), tiles_(tiles), remember_(remember), tile_(tile) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (!remember_) context_ = {};
    return take(thread, heap_, limit_, bytes,
                [&](std::uint32_t size_class, std::uint32_t count) { return take_slices(thread, size_class, count); });
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    give_back(thread, heap_, block);
  }

 private:
  // Gives all lanes the context of the first lane, which searches for a slot if its context has another class.
  template <class Thread, class Group>
  SIMT_FN Resolved agree(Thread& thread, const Group& team, std::uint32_t size_class, Shortage& shortage) {
    Resolved result = Resolved::found;
    if (team.leader() && context_.size_class != size_class) {
      result = resolve<bug>(thread, *heap_.copy, slots_, size_class, tile_ & (slots_.count(heap_, size_class) - 1),
                            context_, shortage);
    }
    const std::uint64_t place = team.broadcast(std::uint64_t{static_cast<std::uint32_t>(result)} << 32 | context_.slot);
    const std::uint64_t life = team.broadcast(std::uint64_t{context_.generation} << 32 | context_.block);
    context_ = {size_class, static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(life >> 32),
                static_cast<std::uint32_t>(life)};
    return static_cast<Resolved>(place >> 32);
  }

  template <class Thread>
  SIMT_FN void* take_slices(Thread& thread, std::uint32_t size_class, std::uint32_t count) {
    auto team = tiles_.converged(thread).match_any(size_class);
    const std::uint32_t slices = heap_.slices();
    Shortage shortage;
    SIMT_ROLLED
    for (std::uint32_t tries = 0; tries < heap_.parameters.slice_tries; ++tries) {
      const Resolved result = agree(thread, team, size_class, shortage);
      if (result != Resolved::found) context_ = {};
      if (result == Resolved::exhausted) return nullptr;
      if (result == Resolved::busy) {
        thread.probe(simt::Step::retry);
        thread.spin_hint();
        continue;
      }
      Slot& slot = slots_.at(size_class, context_.slot);
      const std::uint32_t before = team.exclusive_sum(bug == StaticBug::single_additions ? 1u : count);
      const std::uint32_t added = before + (bug == StaticBug::single_additions ? 1 : count);
      const std::uint32_t last = 31 - simt::count_leading_zeros(team.mask());
      std::uint64_t old = 0;
      if (thread.lane() == last) old = thread.atomic(slot.counter).fetch_add(added, simt::acquire);
      old = team.shfl_lane(old, last);
      team.sync();  // makes the last lane's acquire cover all lanes
      const auto generation = static_cast<std::uint32_t>(old >> 32);
      const auto taken = static_cast<std::uint32_t>(old);
      if (generation != context_.generation && taken < slices) {
        std::uint32_t block = no_block;
        if (team.leader()) block = block_of_generation(thread, slot, generation);
        context_.block = team.broadcast(block);
        context_.generation = generation;
        team.sync();  // makes the leader's acquire cover all lanes
      }
      const std::uint32_t place = taken + before;
      const bool known = context_.block != no_block;
      const bool fits = known && place + count <= slices;
      const std::uint32_t unnamed = known ? unnamed_slices(heap_, fits, place, count) : 0;
      free_unnamed(thread, heap_, team, context_.block, size_class, unnamed);
      const bool crossed = team.any(place < slices && added - before + place >= slices);
      if (crossed && team.leader()) {
        renew_slot<bug>(thread, *heap_.copy, slots_, slot, size_class, LiveBlock::of(generation, context_.block));
      }
      team = team.partition(fits);
      const std::uint32_t block = context_.block;
      if (crossed || !fits) context_ = {};
      if (fits) return heap_.slice(block, size_class, place);
      thread.probe(simt::Step::retry);
    }
    return nullptr;
  }

  Heap heap_;
  Slots slots_;
  RequestLimit limit_;
  Tiles tiles_;
  bool remember_;
  std::uint32_t tile_;
  Context context_;
};

}  // namespace allocbench::gallatin
