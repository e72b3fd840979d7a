// These functions schedule blocks and steps, switch lanes, and end lanes and launches.
#include "simt/cpu/worker.hpp"

#include <algorithm>
#include <exception>

#include "simt/cpu/diagnosis.hpp"
#include "simt/cpu/lane_order.hpp"

namespace simt {
namespace {

// Number of scheduling points between two checks of the other workers. A check finds whether they have abandoned the
// launch, or have changed a word that a parked lane watches.
constexpr std::uint64_t steps_between_checks = 1024;

}  // namespace

Worker::Worker(const ExecutorOptions& options, std::uint32_t index)
    : options_(options),
      index_(index),
      deterministic_(options.mode == ExecutorMode::deterministic),
      stacks_(options.stack_bytes, options.guard_pages) {}

void Worker::run(Launch& launch, std::uint32_t resident, std::uint32_t first_warp_slot) {
  FiberSwitch fibers(root_);
  const lane_order::LaunchScope scope(tracker_);
  fibers_ = &fibers;
  launch_ = &launch;
  strategy_ = make_strategy(options_, launch.seed, launch.index, launch.record.schedule);
  tracker_ = AccessTracker{};
  tracker_.spin_limit = options_.spin_limit;
  tracker_.holds_stores = strategy_->holds_stores();
  if (strategy_->reads_old_values()) tracker_.old_values = &old_values_;
  old_values_.clear();
  if (options_.history_steps != 0) tracker_.history = &launch.record.history;
  steps_ = steps_granted_ = switches_ = hash_ = 0;
  grace_used_ = in_grace_ = abandoning_ = false;

  if (slots_.size() < resident) slots_.resize(resident);
  const std::uint32_t warps_per_block = (launch.shape.threads_per_block + warp_size - 1) / warp_size;
  bool blocks_left = true;
  while (true) {
    abandoning_ = abandoning_ || launch.abandoned();
    if (abandoning_) {
      drop_lanes();
      break;
    }
    for (std::uint32_t slot = 0; slot < resident && blocks_left; ++slot) {
      if (slots_[slot].live != 0) continue;
      const auto index = launch.take_block();
      blocks_left = index.has_value();
      if (!blocks_left) break;
      slots_[slot].first_warp_slot = first_warp_slot + slot * warps_per_block;
      start_block(slots_[slot], *index);
    }
    if (live_ == 0) break;
    if (runnable_.empty()) {
      resolve_stall();
      continue;
    }
    fibers.to(root_, runnable_[strategy_->next(runnable_, 0, Reason::start, nullptr)]->context);
  }
  launch.stalls.finish();
}

void Worker::start_block(Block& block, std::uint32_t index) {
  const LaunchShape& shape = launch_->shape;
  const Launch::Place place = launch_->place_of(index);
  block.call = &place.grid->call;
  block.index = place.block;
  block.block_count = place.grid->blocks;
  block.size = shape.threads_per_block;
  block.sm_count = options_.sm_count;
  block.sm = static_cast<std::uint32_t>((deterministic_ ? mix64(launch_->seed + index) : index) % options_.sm_count);
  block.live = block.size;
  block.blocked = block.at_barrier = 0;
  block.shared_bytes = shape.shared_bytes;
  const std::size_t shared_words = (shape.shared_bytes + 7) / 8;
  if (block.shared_capacity < shared_words) {
    block.shared = std::make_unique<std::uint64_t[]>(shared_words);
    block.shared_capacity = shared_words;
  }
  // On a GPU, shared memory may start with the data of another block. Here it starts with a pattern that no code
  // expects.
  for (std::size_t i = 0; i < shared_words; ++i) block.shared[i] = mix64(launch_->seed + index + (i << 32));
  if (block.lane_capacity < block.size) {
    block.lanes = std::make_unique<Lane[]>(block.size);
    block.lane_capacity = block.size;
  }
  const std::uint32_t warp_count = (block.size + warp_size - 1) / warp_size;
  block.warps.resize(warp_count);
  for (std::uint32_t i = 0; i < warp_count; ++i) {
    const std::uint32_t lanes = std::min(warp_size, block.size - i * warp_size);
    block.warps[i] = {&block, &block.lanes[std::size_t{i} * warp_size], i, full_warp >> (warp_size - lanes), 0, 0, 0};
  }
  live_ += block.size;
  for (std::uint32_t rank = 0; rank < block.size; ++rank) {
    Lane& lane = block.lanes[rank];
    lane.worker = this;
    lane.tracker = &tracker_;
    lane.block = &block;
    lane.warp = &block.warps[rank / warp_size];
    lane.index = rank % warp_size;
    lane.rank_in_block = rank;
    lane.rank_in_grid = std::uint64_t{block.index} * block.size + rank;
    lane.operation = Operation::none;
    lane.site = {};
    lane.mask = 0;
    lane.watch.reset();
    lane.stores.clear();
    lane.spin_limit = options_.spin_limit;
    lane.strategy_state = 0;
    lane.counted_steps = lane.counted_questions = 0;
    fibers_->create(lane.context, stacks_, lane_main, &lane);
    lane_order::lane_made(lane);
    make_runnable(lane);
  }
}

FiberContext& Worker::lane_main(void* argument) {
  Lane& lane = *static_cast<Lane*>(argument);
  Worker& worker = *lane.worker;
  // No fiber switch happens in a catch block, because the C++ runtime keeps its list of exceptions per OS thread.
  std::string escaped;
  try {
    const lane_order::DeviceScope scope(lane);
    try {
      lane.block->call->invoke(lane, lane.block->call->closure);
    } catch (const LaneExit&) {
    }
    lane.order_stores(lane.site);
  } catch (const std::exception& exception) {
    escaped = std::string("threw: ") + exception.what();
  } catch (...) {
    escaped = "threw an object that is not a std::exception";
  }
  if (!escaped.empty()) {
    worker.fail(lane, FaultKind::exception,
                lane_name(lane) + " " + escaped + "; device code reports errors by its results or trap()");
  }
  return worker.exit(lane);
}

FiberContext& Worker::exit(Lane& lane) {
  const std::uint32_t position = lane.position;
  remove_from_run_set(lane);
  lane.state = LaneState::exited;
  lane.warp->exited |= lane.bit();
  Block& block = *lane.block;
  --block.live;
  --live_;
  tracker_.progress = true;
  if (!abandoning_ && block.live != 0) {
    recheck_meetings(*lane.warp);
    if (block.at_barrier == block.live) release_barrier(block);
    check_block_deadlock(block);
  }
  if (abandoning_ || block.live == 0 || runnable_.empty()) return root_;
  ++switches_;
  return runnable_[strategy_->next(runnable_, position, Reason::exit, &lane)]->context;
}

void Worker::drop_lanes() {
  for (Block& block : slots_) {
    if (block.live == 0) continue;
    for (std::uint32_t rank = 0; rank < block.size; ++rank) {
      Lane& lane = block.lanes[rank];
      if (lane.state == LaneState::exited) continue;
      lane_order::lane_dropped(lane);
      fibers_->drop(lane.context, stacks_);
      lane.state = LaneState::exited;
    }
    block.live = 0;
  }
  live_ = 0;
  runnable_.clear();
  parked_.clear();
}

void Worker::count_step(Lane& lane, CallSite site, Operation operation) {
  lane.site = site;
  lane.operation = operation;
  // Only the line of the call site counts, because the address of the file name is random and its text depends on the
  // build folder.
  const std::uint64_t what = std::uint64_t{site.line} * 16 + static_cast<std::uint64_t>(operation);
  hash_ = (hash_ ^ (lane.rank_in_grid * 0x9e3779b97f4a7c15u + what)) * 0xff51afd7ed558ccdu;
  hash_ ^= hash_ >> 29;
  if (steps_++ == steps_granted_) [[unlikely]]
    refill(lane);
}

void Worker::refill(Lane& lane) {
  std::uint64_t granted = launch_->take_steps(steps_between_checks);
  if (granted == 0) granted = refill_in_grace(lane);
  if (launch_->abandoned()) leave(lane);
  steps_granted_ += granted;
  if (!parked_.empty()) wake_changed();
}

// Grants steps of the grace. The strategy may have starved the lane for which the others wait.
std::uint64_t Worker::refill_in_grace(const Lane& lane) {
  if (!in_grace_) {
    in_grace_ = true;
    show_all_stores();
    strategy_ = make_fair_strategy();
  } else if (tracker_.word_changed) {
    launch_->word_changed_in_grace();
  }
  tracker_.word_changed = false;
  const std::uint64_t granted = launch_->take_grace_steps(steps_between_checks);
  if (granted == 0) {
    std::string text;
    const FaultKind kind = launch_->out_of_steps(text);
    fail(lane, kind, text);
  }
  return granted;
}

void Worker::step(Lane& lane, CallSite site, Operation operation, Reason reason) {
  count_step(lane, site, operation);
  reschedule(lane, reason);
}

// Lets the strategy choose the next lane. `lane` is running and stays runnable.
void Worker::reschedule(Lane& lane, Reason reason) {
  Lane& next = *runnable_[strategy_->next(runnable_, lane.position, reason, &lane)];
  if (&next == &lane) return;
  ++switches_;
  fibers_->to(lane.context, next.context);
}

void Worker::block_lane(Lane& lane, LaneState state) {
  const std::uint32_t position = lane.position;
  remove_from_run_set(lane);
  lane.state = state;
  if (runnable_.empty()) {
    fibers_->to(lane.context, root_);
  } else {
    ++switches_;
    fibers_->to(lane.context, runnable_[strategy_->next(runnable_, position, Reason::blocked, &lane)]->context);
  }
}

void Worker::make_runnable(Lane& lane) {
  lane.state = LaneState::runnable;
  lane.position = static_cast<std::uint32_t>(runnable_.size());
  runnable_.push_back(&lane);
}

void Worker::remove_from_run_set(Lane& lane) {
  Lane* last = runnable_.back();
  runnable_[lane.position] = last;
  last->position = lane.position;
  runnable_.pop_back();
}

void Worker::fail(const Lane& lane, FaultKind kind, const std::string& text) {
  // Lanes of any warp of the block may have caused a failed check.
  launch_->abandon(kind,
                   text + "\n" + (kind == FaultKind::failed_check ? live_warps(*lane.block) : lane_table(*lane.warp)));
  abandoning_ = true;
}

void Worker::leave(Lane& lane) {
  abandoning_ = true;
  fibers_->to(lane.context, root_);
  __builtin_unreachable();
}

// Group operations and barriers wait only for lanes of their own block. So a block whose live lanes all wait is stuck,
// whatever the rest of the grid does.
void Worker::check_block_deadlock(const Block& block) {
  if (abandoning_ || block.live == 0 || block.blocked != block.live) return;
  launch_->abandon(FaultKind::deadlock, "deadlock: all " + std::to_string(block.live) + " live lanes of block " +
                                            std::to_string(block.index) +
                                            " wait at group operations or barriers that cannot complete\n" +
                                            live_warps(block));
  abandoning_ = true;
}

}  // namespace simt
