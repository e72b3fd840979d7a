// These functions tell ThreadSanitizer in the race build (SIMT_RACES, see races.hpp) what orders the memory accesses of
// two lanes. In every other build they do nothing.
//
// For ThreadSanitizer each lane is a thread, and the executor is the OS thread that called launch(). Accesses of the
// executor inside a call from device code count as accesses of the OS thread. ThreadSanitizer ignores these accesses
// during the launch. So a lock, an allocation or a copy inside the executor neither races with a lane nor orders two
// lanes. A switch alone orders nothing.
#pragma once

#include "simt/cpu/lane.hpp"

#if SIMT_RACES
#include <sanitizer/tsan_interface.h>
#endif

namespace simt {
class DeviceHeapMemory;
}

namespace simt::lane_order {

#if SIMT_RACES

// LaunchScope is a launch on one worker. The calling OS thread is the executor. At the end, this thread is ordered
// after all lanes.
class LaunchScope {
 public:
  explicit LaunchScope(const AccessTracker& tracker);
  ~LaunchScope();
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

 private:
  const AccessTracker& tracker_;
};

// ExecutorScope is a call from device code into the executor. It returns to the same lane, whichever lanes ran
// meanwhile.
class ExecutorScope {
 public:
  explicit ExecutorScope(const Lane& lane) : lane_(lane.context.tsan_fiber) { enter_executor(); }
  ~ExecutorScope() { __tsan_switch_to_fiber(lane_, __tsan_switch_to_fiber_no_sync); }
  ExecutorScope(const ExecutorScope&) = delete;
  ExecutorScope& operator=(const ExecutorScope&) = delete;

 private:
  static void enter_executor();

  void* lane_;
};

// DeviceScope is the lifetime of a lane. Its end is ordered before the host's actions after the launch.
class DeviceScope {
 public:
  explicit DeviceScope(const Lane& lane);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  const Lane& lane_;
};

// Announces a new lane. The lane is ordered after the host's actions before the launch. It is also ordered after the
// block that used this Block object before, because the two have the same shared memory.
void lane_made(const Lane& lane);
// Announces that the lane will not run again.
void lane_dropped(const Lane& lane);

// Orders the later actions of each lane after the earlier actions of all of them, for the warp barrier and the block
// barrier.
void meet(const Warp& warp, LaneMask lanes);
void meet_at_barrier(const Block& block);

// These two functions order each allocation of the device heap after every earlier deallocation.
void heap_allocated(const Lane& lane, const DeviceHeapMemory& heap);
void heap_freed(const Lane& lane, const DeviceHeapMemory& heap);

// Counts a report about the running lane if the report is not stored: it repeats a known report, or the list of races
// is full. After the second such report, ThreadSanitizer does not watch this lane any more, because a report takes at
// least a millisecond.
void lane_repeats_itself();

#else

struct LaunchScope {
  explicit LaunchScope(const AccessTracker&) {}
};
struct ExecutorScope {
  explicit ExecutorScope(const Lane&) {}
};
struct DeviceScope {
  explicit DeviceScope(const Lane&) {}
};
inline void lane_made(const Lane&) {}
inline void lane_dropped(const Lane&) {}
inline void meet(const Warp&, LaneMask) {}
inline void meet_at_barrier(const Block&) {}
inline void heap_allocated(const Lane&, const DeviceHeapMemory&) {}
inline void heap_freed(const Lane&, const DeviceHeapMemory&) {}

#endif

}  // namespace simt::lane_order
