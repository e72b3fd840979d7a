// Fibers and their stacks are built on Boost.Context.
//
// Lanes switch to each other directly, without a scheduler fiber. Every switch uses FiberSwitch, which also informs
// AddressSanitizer and ThreadSanitizer: Debian builds Boost.Context without ucontext, so Boost's own sanitizer support
// has no effect. In the race build lane_order.hpp informs ThreadSanitizer about lanes instead of switches.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

// Number of lanes that ThreadSanitizer can distinguish in one process. ThreadSanitizer has at most 8,128 threads, and
// the host uses some of them.
inline constexpr std::uint32_t max_tsan_lanes = 8000;

// LaneStack is a stack and the ThreadSanitizer thread that belongs to it. If two of ThreadSanitizer's threads used one
// stack, ThreadSanitizer would report a race between them.
struct LaneStack {
  boost::context::stack_context memory;
  void* tsan_fiber = nullptr;
};

// StackPool holds recycled stacks of one size. Creating a stack takes microseconds, and taking one from the pool takes
// nanoseconds. The pool is not thread-safe, so every worker has its own.
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

// FiberContext is a point of execution to which other contexts can switch: a lane, or a worker's own OS thread.
struct FiberContext {
  FiberContext() = default;
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  boost::context::fiber fiber;
  const void* stack_bottom = nullptr;  // this and the next three members are for the sanitizers and drop()
  std::size_t stack_bytes = 0;
  void* fake_stack = nullptr;
  void* tsan_fiber = nullptr;
};

class FiberSwitch {
 public:
  // `root` is the context of the calling OS thread.
  explicit FiberSwitch(FiberContext& root);

  // Makes `context` a fiber. The first switch to it runs `body(argument)` on a stack of the pool. `body` returns the
  // context that continues after it.
  void create(FiberContext& context, StackPool& pool, FiberContext& (*body)(void*), void* argument);
  // Ends a suspended fiber without running it again. No destructor of its variables runs. Its stack returns to the
  // pool.
  void drop(FiberContext& context, StackPool& pool);
  // Suspends the running fiber `from` and continues with `to`. Returns when another context switches to `from`.
  void to(FiberContext& from, FiberContext& to);

 private:
  void announce(FiberContext& to, void** fake_stack);
  void arrive(FiberContext& self, boost::context::fiber&& left);

  FiberContext* left_ = nullptr;  // the fiber that switched last; the other side receives its continuation
};

}  // namespace simt
