// Fibers and their stacks: what Boost.Context leaves to its user.
//
// Lanes switch to each other directly, not through a scheduler fiber. Every switch goes through FiberSwitch, which also
// tells AddressSanitizer and ThreadSanitizer about it: Debian builds Boost.Context without ucontext, so that Boost's
// own sanitizer switches have no effect. In the race build ThreadSanitizer hears of lanes, not of switches, from
// lane_order.hpp.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

// Lanes that ThreadSanitizer can tell apart in one process: its limit is 8,128 threads, and the host has some too.
inline constexpr std::uint32_t max_tsan_lanes = 8000;

// ThreadSanitizer takes everything on this stack for one thread: if two of its threads used one stack, that would look
// like a race between them.
struct LaneStack {
  boost::context::stack_context memory;
  void* tsan_fiber = nullptr;
};

// Stacks of one size, recycled: creating one costs microseconds, taking one from the pool nanoseconds. Not thread-safe;
// every worker has its own.
class StackPool {
 public:
  StackPool(std::size_t stack_bytes, bool guard_pages);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  LaneStack take();
  void give_back(const LaneStack& stack);

 private:
  void map_more();

  struct Mapping {
    void* base;
    std::size_t bytes;
  };
  std::size_t stack_bytes_;
  std::size_t guard_bytes_;
  std::size_t stacks_mapped_ = 0;
  std::vector<Mapping> mappings_;
  std::vector<LaneStack> free_;
};

// A point of execution that can be switched to: a lane, or a worker's own OS thread.
struct FiberContext {
  FiberContext() = default;
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  boost::context::fiber fiber;
  const void* stack_bottom = nullptr;  // the four below are for the sanitizers
  std::size_t stack_bytes = 0;
  void* fake_stack = nullptr;
  void* tsan_fiber = nullptr;
};

class FiberSwitch {
 public:
  // `root` is the calling OS thread.
  explicit FiberSwitch(FiberContext& root);

  // Makes `context` a fiber that runs `body(argument)` on a stack of the pool at the first switch to it. `body` returns
  // the context to go on with.
  void create(FiberContext& context, StackPool& pool, FiberContext& (*body)(void*), void* argument);
  // Ends a suspended fiber without running it again: its frames are forgotten, its stack goes back to the pool.
  void drop(FiberContext& context, StackPool& pool);
  // Suspends `from`, the running one, and continues with `to`. Returns when some other context switches to `from`.
  void to(FiberContext& from, FiberContext& to);

 private:
  void announce(FiberContext& to, void** fake_stack);
  void arrive(FiberContext& self, boost::context::fiber&& left);

  FiberContext* left_ = nullptr;  // the fiber that switched last; its continuation arrives at the other side
};

}  // namespace simt
