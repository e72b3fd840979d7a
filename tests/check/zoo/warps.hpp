// These specimens of the bug zoo (specimen.hpp) aggregate the requests of a warp.
#pragma once

#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

enum class WarpBug { none, full_mask, stale_leader, lane_zero };

// WarpBump makes one atomic operation for all lanes that come together.
template <WarpBug bug>
class WarpBump : public BumpSlots {
 public:
  static constexpr Traits traits = [] {
    switch (bug) {
      case WarpBug::full_mask:
        return specimen(Form::broken, "zoo_full_mask", "", "the full mask in divergent code", Frees::never);
      case WarpBug::stale_leader:
        return specimen(Form::broken, "zoo_stale_leader", "", "the leader of one group acts for another", Frees::never);
      case WarpBug::lane_zero:
        return specimen(Form::broken, "zoo_lane_zero", "", "the result is read from lane 0, which may be absent",
                        Frees::never);
      case WarpBug::none:
        break;
    }
    return specimen(Form::repaired, "", "zoo_warp_bump_repaired", "one atomic per group", Frees::never);
  }();

  using BumpSlots::BumpSlots;
  static WarpBump create(Arena& arena, const Parameters&) { return WarpBump(arena); }
  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 256 * SlotPool::slot_bytes}; }
  static SmallHeap<Parameters> second_small_heap() { return small_heap(); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    std::uint32_t slot = 0;
    if constexpr (bug == WarpBug::full_mask) {
      slot = add(thread, thread.warp(), thread.warp().leader());
    } else if constexpr (bug == WarpBug::stale_leader) {
      const bool leads = thread.converged().leader();
      slot = add(thread, thread.converged(), leads);
    } else {
      const auto group = thread.converged();
      slot = add(thread, group, group.leader());
    }
    return slot < pool_.slots() ? pool_.block(slot) : nullptr;
  }

 private:
  template <class Thread, class Group>
  SIMT_FN std::uint32_t add(Thread& thread, Group group, bool leads) {
    std::uint32_t first = 0;
    if (leads) first = thread.atomic(*next_).fetch_add(group.num_threads(), simt::relaxed);
    first = bug == WarpBug::lane_zero ? group.shfl_lane(first, 0) : group.broadcast(first);
    return first + group.thread_rank();
  }
};

// BallotLoop lets lanes look for a bit in rounds. In each round they vote whether any lane still looks, and they meet
// once more at the end. A lane that leaves early waits there for lanes that wait for its vote (desul issue 132).
template <Form form>
class BallotLoop : public BitSpecimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_ballot_loop", "zoo_ballot_loop_repaired",
                                            "lanes leave a ballot loop in different rounds, their mask does not");

  using BitSpecimen::BitSpecimen;
  static BallotLoop create(Arena& arena, const Parameters&) { return BallotLoop(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const auto group = thread.converged();
    bool looking = true;
    void* found = nullptr;
    while (group.any(looking)) {
      if (looking) {
        std::uint32_t bits = bits_.word(thread).load(simt::relaxed);
        const std::uint32_t slot = simt::count_trailing_zeros(~bits);
        if (~bits == 0) {
          looking = false;
        } else {
          bits = bits_.word(thread).fetch_or(1u << slot, simt::acquire);
          if ((bits >> slot & 1) == 0) {
            found = pool_.block(slot);
            looking = false;
          }
        }
      }
      if constexpr (form == Form::broken) {
        if (!looking) break;
      }
    }
    group.sync();
    return found;
  }
};

}  // namespace allocbench::zoo
