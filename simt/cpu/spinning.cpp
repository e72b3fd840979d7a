// This file parks and wakes lanes that only wait for a word to change, and reports them when no lane can continue.
//
// A spin loop must not prevent the end of a launch. A strategy that prefers a spinning lane must not starve the lane
// for which the spinning lane waits. If a lane has read the same values `spin_limit` times without changing anything,
// it leaves the run set until one of these words changes. The loop may also be a bounded poll, which ends by itself. So
// every parked lane gets `grace_spin_limit` further reads before anything is reported.
#include <algorithm>
#include <chrono>
#include <thread>

#include "simt/cpu/diagnosis.hpp"
#include "simt/cpu/worker.hpp"

namespace simt {
namespace {

constexpr std::uint32_t warps_in_report = 4;

// Reads the present value of a word. The read races on purpose: a lane on another OS thread may write the word.
std::uint64_t current_value(const SpinWatch::Word& word) {
  if (word.bytes == 4) {
    return __atomic_load_n(static_cast<const std::uint32_t*>(word.address), __ATOMIC_ACQUIRE);
  }
  return __atomic_load_n(static_cast<const std::uint64_t*>(word.address), __ATOMIC_ACQUIRE);
}

}  // namespace

void SpinWatch::remember(const void* address, std::uint64_t value, std::uint32_t bytes) {
  streak_ = 0;
  in_streak_ = 0;
  Word* place = std::find_if(words_, words_ + count_, [&](const Word& word) { return word.address == address; });
  if (place == words_ + count_) {
    if (count_ < capacity) {
      ++count_;
    } else {
      place = words_ + oldest_;
      oldest_ = (oldest_ + 1) % capacity;
    }
  }
  *place = {address, value, bytes};
}

void SpinWatch::keep_streak_only() {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if ((in_streak_ >> i & 1u) != 0) words_[kept++] = words_[i];
  }
  count_ = kept;
  streak_ = 0;
  in_streak_ = 0;
}

bool SpinWatch::any_changed() const {
  return std::any_of(begin(), end(), [](const Word& word) { return current_value(word) != word.value; });
}

void Worker::park(Lane& lane) {
  lane.watch.keep_streak_only();
  for (const SpinWatch::Word& word : lane.watch) ++tracker_.watched.count(word.address);
  parked_.push_back(&lane);
  block_lane(lane, LaneState::parked);
}

void Worker::wake(Lane& lane) {
  for (const SpinWatch::Word& word : lane.watch) --tracker_.watched.count(word.address);
  lane.watch.reset();
  parked_.erase(std::find(parked_.begin(), parked_.end(), &lane));
  make_runnable(lane);
}

void Worker::wake_watchers(const void* address) {
  for (std::size_t i = parked_.size(); i-- > 0;) {
    Lane& lane = *parked_[i];
    const bool watches = std::any_of(lane.watch.begin(), lane.watch.end(),
                                     [&](const SpinWatch::Word& word) { return word.address == address; });
    if (watches) wake(lane);
  }
}

// Wakes lanes whose words have changed. Writes of other workers and plain stores are not announced, so the words
// themselves are checked.
bool Worker::wake_changed() {
  bool any = false;
  for (std::size_t i = parked_.size(); i-- > 0;) {
    Lane& lane = *parked_[i];
    if (!lane.watch.any_changed()) continue;
    wake(lane);
    any = true;
  }
  return any;
}

// Resolves a state in which no lane can run. The root context of the worker calls this function.
void Worker::resolve_stall() {
  if (show_all_stores() && !runnable_.empty()) return;
  if (wake_changed()) return;
  if (tracker_.progress) grace_used_ = false;
  tracker_.progress = false;
  if (!grace_used_) {
    grace_used_ = true;
    while (!parked_.empty()) {
      Lane& lane = *parked_.back();
      lane.spin_limit = options_.grace_spin_limit;
      wake(lane);
    }
    return;
  }
  launch_->stalls.enter();
  while (true) {
    const std::uint64_t round = launch_->stalls.round();
    if (wake_changed() || launch_->abandoned()) break;
    if (round != 0 && launch_->stalls.confirm(index_, round)) {
      report_stall();
      break;
    }
    // Another worker still runs and may need a long time, so this one yields the core.
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  launch_->stalls.leave();
}

void Worker::report_stall() {
  const bool spinning = !parked_.empty();
  const std::uint32_t not_started = launch_->blocks_not_started();
  std::string text = spinning
                         ? "livelock: every live lane spins on words that no lane changes, or waits for one that does"
                         : "deadlock: every live lane waits at a group operation or barrier that cannot complete";
  if (not_started != 0) {
    text += "; " + std::to_string(not_started) +
            " blocks cannot start: a block starts only after a resident one has ended "
            "(max_resident_blocks says how many run at once)";
  }
  text += "\n";
  std::uint32_t tables = 0;
  for (const Block& block : slots_) {
    for (const Warp& warp : block.warps) {
      if (block.live == 0 || (warp.present & ~warp.exited) == 0 || tables == warps_in_report) continue;
      text += lane_table(warp);
      ++tables;
    }
  }
  launch_->abandon(spinning ? FaultKind::livelock : FaultKind::deadlock, text);
}

}  // namespace simt
