// What orders the memory accesses of two lanes: told to ThreadSanitizer in the race build (SIMT_RACES, see races.hpp),
// nothing at all in every other build.
//
// Each lane is a thread of its own there, and the executor is the OS thread that called launch(). Between a call of the
// vocabulary and its return, all accesses count as those of the OS thread, and these are ignored during the launch. So
// a lock, an allocation or a copy inside the executor neither races with a lane nor orders two lanes. No switch orders
// anything by itself.
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

// A launch on one worker: the calling OS thread is the executor, and comes after all lanes in the end.
class LaunchScope {
 public:
  explicit LaunchScope(const AccessTracker& tracker);
  ~LaunchScope();
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

 private:
  const AccessTracker& tracker_;
};

// From device code into the executor, and back into the same lane whichever lanes ran between.
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

// The life of a lane. It ends before what the host does after the launch.
class DeviceScope {
 public:
  explicit DeviceScope(const Lane& lane);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  const Lane& lane_;
};

// The lane comes after what the host did before the launch, and after the block that had this block's place: their
// shared memory is the same.
void lane_made(const Lane& lane);
// The lane will not run again.
void lane_dropped(const Lane& lane);

// Each of the lanes comes after all of them: the warp barrier and the block barrier.
void meet(const Warp& warp, LaneMask lanes);
void meet_at_barrier(const Block& block);

// An allocation of the device heap comes after every deallocation before it.
void heap_allocated(const Lane& lane, const DeviceHeapMemory& heap);
void heap_freed(const Lane& lane, const DeviceHeapMemory& heap);

// The running lane made a report that is known already. A report takes a millisecond or more, so a lane that repeats
// itself is not watched for the rest of its life.
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
