// This file implements lane_order.hpp. It is compiled only into simt_cpu_races, the library of the race build.
#include "simt/cpu/lane_order.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "simt/bits.hpp"
#include "simt/cpu/diagnosis.hpp"

// ThreadSanitizer's headers do not declare these functions of its library.
extern "C" {
void __tsan_ignore_thread_begin();
void __tsan_ignore_thread_end();
}

namespace simt::lane_order {
namespace {

// A lane stays on its OS thread, so code may keep the address of this variable across a switch.
thread_local void* executor = nullptr;

void become(void* tsan_fiber) { __tsan_switch_to_fiber(tsan_fiber, __tsan_switch_to_fiber_no_sync); }

// ThreadSanitizer keeps a clock for each address of a release. These two addresses belong to the worker of the lanes.
// The address of a Block object has the clock of the lanes that ended in it.
void* start_of_launch(const AccessTracker& tracker) { return const_cast<WatchFilter*>(&tracker.watched); }
void* end_of_launch(const AccessTracker& tracker) { return const_cast<bool*>(&tracker.progress); }

// A Repeater counts the reports about one lane that are not stored, because the race is known or the list is full.
// Repeaters are not in a vector, because nothing may be allocated in the middle of a report.
struct Repeater {
  void* tsan_fiber;
  std::uint32_t repetitions;
};
constexpr std::uint32_t max_repetitions = 2;
std::array<Repeater, max_tsan_lanes> repeaters;
std::size_t repeater_count = 0;

Repeater* find_repeater(void* tsan_fiber) {
  return std::find_if(repeaters.data(), repeaters.data() + repeater_count,
                      [=](const Repeater& repeater) { return repeater.tsan_fiber == tsan_fiber; });
}

void forget_repetitions(void* tsan_fiber) {
  Repeater* repeater = find_repeater(tsan_fiber);
  if (repeater == repeaters.data() + repeater_count) return;
  if (repeater->repetitions >= max_repetitions) __tsan_ignore_thread_end();  // one access may make several reports
  *repeater = repeaters[--repeater_count];
}

// Ends the lane for ThreadSanitizer. The caller must run as this lane.
void end(const Lane& lane) {
  forget_repetitions(lane.context.tsan_fiber);
  __tsan_release(end_of_launch(*lane.tracker));
  __tsan_release(lane.block);
}

// Orders the later actions of each lane of a meeting after the earlier actions of all its lanes. `for_each` calls its
// argument with each of these lanes.
template <class ForEach>
void join(ForEach for_each) {
  // The address is new each time, because an old one would also pass on the releases of earlier meetings.
  const auto moment = std::make_unique<std::uint64_t>(0);
  for_each([&](const Lane& lane) {
    become(lane.context.tsan_fiber);
    __tsan_release(moment.get());
  });
  for_each([&](const Lane& lane) {
    become(lane.context.tsan_fiber);
    __tsan_acquire(moment.get());
  });
  become(executor);
}

}  // namespace

LaunchScope::LaunchScope(const AccessTracker& tracker) : tracker_(tracker) {
  executor = __tsan_get_current_fiber();
  __tsan_ignore_thread_begin();
}

LaunchScope::~LaunchScope() {
  __tsan_ignore_thread_end();
  __tsan_acquire(end_of_launch(tracker_));
}

void ExecutorScope::enter_executor() { become(executor); }

DeviceScope::DeviceScope(const Lane& lane) : lane_(lane) {
  __tsan_set_fiber_name(lane.context.tsan_fiber, lane_name(lane).c_str());
  become(lane.context.tsan_fiber);
}

DeviceScope::~DeviceScope() {
  end(lane_);
  become(executor);
}

void lane_made(const Lane& lane) {
  __tsan_release(start_of_launch(*lane.tracker));
  become(lane.context.tsan_fiber);
  __tsan_acquire(start_of_launch(*lane.tracker));
  __tsan_acquire(lane.block);
  become(executor);
}

void lane_dropped(const Lane& lane) {
  become(lane.context.tsan_fiber);
  end(lane);
  become(executor);
}

void meet(const Warp& warp, LaneMask lanes) {
  join([&](auto visit) {
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) visit(warp.lanes[count_trailing_zeros(rest)]);
  });
}

void meet_at_barrier(const Block& block) {
  join([&](auto visit) {
    for (std::uint32_t rank = 0; rank < block.size; ++rank) {
      if (block.lanes[rank].state == LaneState::at_barrier) visit(block.lanes[rank]);
    }
  });
}

void lane_repeats_itself() {
  void* const lane = __tsan_get_current_fiber();
  if (lane == executor) return;
  Repeater* const repeater = find_repeater(lane);
  if (repeater == repeaters.data() + repeater_count) repeaters[repeater_count++] = {lane, 0};
  if (++repeater->repetitions == max_repetitions) __tsan_ignore_thread_begin();
}

void heap_allocated(const Lane& lane, const DeviceHeapMemory& heap) {
  become(lane.context.tsan_fiber);
  __tsan_acquire(const_cast<DeviceHeapMemory*>(&heap));
  become(executor);
}

void heap_freed(const Lane& lane, const DeviceHeapMemory& heap) {
  become(lane.context.tsan_fiber);
  __tsan_release(const_cast<DeviceHeapMemory*>(&heap));
  become(executor);
}

}  // namespace simt::lane_order
