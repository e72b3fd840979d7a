// These functions schedule lanes that meet in group operations, converged() and the block barrier. rendezvous.cpp
// determines the result of a meeting and whether it can still complete.
#include <utility>

#include "simt/bits.hpp"
#include "simt/cpu/lane_order.hpp"
#include "simt/cpu/rendezvous.hpp"
#include "simt/cpu/worker.hpp"

namespace simt {
namespace {

// Number of times that a lane at converged() yields to other lanes before it continues with the lanes that have
// arrived.
constexpr std::uint32_t gather_patience = 32;

// Returns the lanes of the warp that wait at the converged() of `lane`.
LaneMask gathering_with(const Lane& lane) {
  const Warp& warp = *lane.warp;
  LaneMask lanes = 0;
  for (LaneMask rest = warp.present & ~warp.exited; rest != 0; rest &= rest - 1) {
    const Lane& other = warp.lanes[count_trailing_zeros(rest)];
    if (other.state == LaneState::gathering && other.site == lane.site) lanes |= other.bit();
  }
  return lanes;
}

}  // namespace

void Worker::collective(Lane& lane) {
  lane.advanced();
  lane.state = LaneState::waiting;
  ++lane.block->blocked;
  diagnose(lane);
  if (abandoning_) leave(lane);
  if (complete(lane)) {
    if (abandoning_) leave(lane);
    reschedule(lane, Reason::collective);
  } else {
    check_block_deadlock(*lane.block);
    if (abandoning_) leave(lane);
    block_lane(lane, LaneState::waiting);
  }
}

void Worker::unite_views(const Warp& warp, LaneMask lanes) {
  if (tracker_.old_values == nullptr) return;
  std::vector<std::uint64_t> ranks;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    ranks.push_back(warp.lanes[count_trailing_zeros(rest)].rank_in_grid);
  }
  old_values_.meet(ranks);
}

void Worker::unite_views_at_barrier(const Block& block) {
  if (tracker_.old_values == nullptr) return;
  std::vector<std::uint64_t> ranks;
  for (std::uint32_t rank = 0; rank < block.size; ++rank) {
    if (block.lanes[rank].state == LaneState::at_barrier) ranks.push_back(block.lanes[rank].rank_in_grid);
  }
  old_values_.meet(ranks);
}

void Worker::diagnose(const Lane& lane) {
  const std::string error =
      lane.state == LaneState::at_barrier ? diagnose_barrier_arrival(lane) : diagnose_arrival(lane);
  if (!error.empty()) fail(lane, FaultKind::mask_error, error);
}

// Completes the group operation of `lane` and wakes the lanes that take part. Returns false if one of them has not
// arrived. The last lane to arrive is running and never left the run set.
bool Worker::complete(const Lane& lane) {
  std::string error;
  const LaneMask done = try_complete(lane, error);
  if (done == 0) return false;
  if (lane.operation == Operation::sync) {
    lane_order::meet(*lane.warp, done);
    unite_views(*lane.warp, done);
  }
  for (LaneMask rest = done; rest != 0; rest &= rest - 1) {
    Lane& member = lane.warp->lanes[count_trailing_zeros(rest)];
    --member.block->blocked;
    const bool in_run_set = member.position < runnable_.size() && runnable_[member.position] == &member;
    if (in_run_set) {
      member.state = LaneState::runnable;
    } else {
      make_runnable(member);
    }
  }
  strategy_->met(*lane.warp, done);
  if (!error.empty()) fail(lane, FaultKind::mask_error, error);
  return true;
}

// A lane that arrives waits until no other lane of its warp can come, or until it has yielded `gather_patience` times.
// Then it forms a group of the lanes at the same place, unless another lane has already included it in a group. The
// strategy may remove lanes from the group. The strategy may also let the first lane continue immediately, without the
// lanes that arrive a step later.
void Worker::converge(Lane& lane) {
  const bool first = gathering_with(lane) == 0;
  lane.state = LaneState::gathering;
  lane.mask = 0;
  std::uint32_t patience = first && strategy_->leaves_at_once(lane) ? 0 : gather_patience;
  while (lane.mask == 0) {
    bool others_may_come = false;
    const Warp& warp = *lane.warp;
    for (LaneMask rest = warp.present & ~warp.exited; rest != 0; rest &= rest - 1) {
      others_may_come = others_may_come || warp.lanes[count_trailing_zeros(rest)].state == LaneState::runnable;
    }
    if (!others_may_come || patience == 0) {
      form_group(lane);
    } else {
      --patience;
      step(lane, lane.site, Operation::converged, Reason::gather);
    }
  }
}

void Worker::form_group(Lane& lane) {
  const LaneMask gathered = gathering_with(lane);
  const LaneMask group = (strategy_->group(lane, gathered) & gathered) | lane.bit();
  for (LaneMask rest = group; rest != 0; rest &= rest - 1) {
    Lane& member = lane.warp->lanes[count_trailing_zeros(rest)];
    member.mask = group;
    member.state = LaneState::runnable;
  }
  strategy_->met(*lane.warp, group);
}

void Worker::block_barrier(Lane& lane) {
  lane.advanced();
  Block& block = *lane.block;
  lane.state = LaneState::at_barrier;
  ++block.blocked;
  ++block.at_barrier;
  diagnose(lane);
  if (abandoning_) leave(lane);
  if (block.at_barrier == block.live) {
    release_barrier(block);
    reschedule(lane, Reason::collective);
  } else {
    check_block_deadlock(block);
    if (abandoning_) leave(lane);
    block_lane(lane, LaneState::at_barrier);
  }
}

void Worker::release_barrier(Block& block) {
  lane_order::meet_at_barrier(block);
  unite_views_at_barrier(block);
  for (std::uint32_t rank = 0; rank < block.size; ++rank) {
    Lane& lane = block.lanes[rank];
    if (lane.state != LaneState::at_barrier) continue;
    const bool in_run_set = lane.position < runnable_.size() && runnable_[lane.position] == &lane;
    if (in_run_set) {
      lane.state = LaneState::runnable;
    } else {
      make_runnable(lane);
    }
  }
  block.blocked -= std::exchange(block.at_barrier, 0u);
}

void Worker::recheck_meetings(Warp& warp) {
  for (LaneMask rest = warp.present & ~warp.exited; rest != 0 && !abandoning_; rest &= rest - 1) {
    const Lane& lane = warp.lanes[count_trailing_zeros(rest)];
    if (lane.state == LaneState::waiting) complete(lane);
  }
}

}  // namespace simt
