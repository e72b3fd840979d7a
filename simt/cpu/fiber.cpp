#include "simt/cpu/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "simt/common.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SIMT_THREAD_SANITIZER) || SIMT_RACES
#define SIMT_TSAN_FIBERS 1
#include <sanitizer/tsan_interface.h>
#endif

namespace simt {
namespace {

constexpr std::size_t stacks_per_mapping = 32;

// If all stacks began at the same distance from a page boundary, their tops would share a few cache sets. A suspended
// lane keeps about five cache lines at the top. So the tops are shifted by one of twelve distances in turn.
constexpr std::size_t colors = 12;
constexpr std::size_t color_bytes = std::size_t{5} * 64;

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

#if SIMT_TSAN_FIBERS
// TsanFibers holds ThreadSanitizer's threads for lanes. The GCC runtime takes nearly a millisecond to create one, so
// these threads outlive the device.
class TsanFibers {
 public:
  static TsanFibers& all() {
    static TsanFibers fibers;
    return fibers;
  }
  void* take() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      void* fiber = free_.back();
      free_.pop_back();
      return fiber;
    }
    if (alive_ == max_tsan_lanes) {
      throw Fault(FaultKind::environment, "ThreadSanitizer has no room for more than " +
                                              std::to_string(max_tsan_lanes) +
                                              " lanes in a process; lower ExecutorOptions::resident_blocks");
    }
    ++alive_;
    return __tsan_create_fiber(0);
  }
  void give_back(void* fiber) {
    const std::lock_guard lock(mutex_);
    free_.push_back(fiber);
  }
  void destroy(void* fiber) {
    const std::lock_guard lock(mutex_);
    --alive_;
    __tsan_destroy_fiber(fiber);
  }

 private:
  std::mutex mutex_;
  std::vector<void*> free_;
  std::size_t alive_ = 0;
};
#endif

// PooledStack is the interface through which Boost.Context gets a stack.
class PooledStack {
 public:
  explicit PooledStack(StackPool& pool, const LaneStack& stack) : pool_(&pool), stack_(stack) {}
  boost::context::stack_context allocate() { return stack_.memory; }
  void deallocate(boost::context::stack_context&) noexcept { pool_->give_back(stack_); }

 private:
  StackPool* pool_;
  LaneStack stack_;
};

}  // namespace

StackPool::StackPool(std::size_t stack_bytes, bool guard_pages) : guard_bytes_(guard_pages ? page_bytes() : 0) {
  // One extra page makes room for the shift of the top.
  stack_bytes_ = (stack_bytes + 2 * page_bytes() - 1) / page_bytes() * page_bytes();
}

StackPool::~StackPool() {
#if SIMT_TSAN_FIBERS
  for (const LaneStack& stack : free_) {
    if (stack.tsan_fiber != nullptr) TsanFibers::all().give_back(stack.tsan_fiber);
  }
#endif
  for (const Mapping& mapping : mappings_) munmap(mapping.base, mapping.bytes);
}

void StackPool::map_more() {
  const std::size_t stride = stack_bytes_ + guard_bytes_;
  const std::size_t bytes = stride * stacks_per_mapping;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    throw Fault(FaultKind::environment, "cannot map " + std::to_string(bytes) +
                                            " bytes for lane stacks; lower ExecutorOptions::resident_blocks");
  }
  mappings_.push_back({base, bytes});
  for (std::size_t i = 0; i < stacks_per_mapping; ++i) {
    char* low = static_cast<char*>(base) + i * stride;
    if (guard_bytes_ != 0 && mprotect(low, guard_bytes_, PROT_NONE) != 0) {
      throw Fault(FaultKind::environment,
                  "cannot protect the guard page of a lane stack (vm.max_map_count?); set ExecutorOptions::guard_pages "
                  "to false");
    }
    LaneStack stack;
    const std::size_t shift = stacks_mapped_++ % colors * color_bytes;
    stack.memory.size = stack_bytes_ - shift;
    stack.memory.sp = low + guard_bytes_ + stack.memory.size;
    free_.push_back(stack);
  }
}

LaneStack StackPool::take() {
  if (free_.empty()) map_more();
#if SIMT_TSAN_FIBERS
  if (free_.back().tsan_fiber == nullptr) free_.back().tsan_fiber = TsanFibers::all().take();
#endif
  const LaneStack stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::give_back(const LaneStack& stack) {
#if defined(__SANITIZE_ADDRESS__)
  // The frames of the former lane have left AddressSanitizer's red zones on this stack.
  ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(stack.memory.sp) - stack.memory.size, stack.memory.size);
#endif
  free_.push_back(stack);
}

FiberSwitch::FiberSwitch(FiberContext& root) {
  root.stack_bottom = nullptr;
#if SIMT_TSAN_FIBERS
  root.tsan_fiber = __tsan_get_current_fiber();
#endif
}

// Prepares a switch. If the executor is instrumented as well (the tsan preset), ThreadSanitizer must learn that
// switches order memory. It then reports races between OS threads only. The race build reports races between two lanes
// of one OS thread. This file is never instrumented (see CMakeLists.txt), because entries and exits of its functions
// would be counted for different fibers.
void FiberSwitch::announce([[maybe_unused]] FiberContext& to, [[maybe_unused]] void** fake_stack) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake_stack, to.stack_bottom, to.stack_bytes);
#endif
#if defined(SIMT_THREAD_SANITIZER)
  __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
}

// Ends a switch, on the stack of `self`.
void FiberSwitch::arrive([[maybe_unused]] FiberContext& self, boost::context::fiber&& left) {
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(self.fake_stack, &bottom, &bytes);
  if (left_->stack_bottom == nullptr) {  // the OS thread; only the sanitizer knows the bounds of its stack
    left_->stack_bottom = bottom;
    left_->stack_bytes = bytes;
  }
#endif
  left_->fiber = std::move(left);
}

void FiberSwitch::create(FiberContext& context, StackPool& pool, FiberContext& (*body)(void*), void* argument) {
  const LaneStack stack = pool.take();
  context.stack_bottom = static_cast<char*>(stack.memory.sp) - stack.memory.size;
  context.stack_bytes = stack.memory.size;
  context.fake_stack = nullptr;
  context.tsan_fiber = stack.tsan_fiber;
  context.fiber = boost::context::fiber(std::allocator_arg, PooledStack(pool, stack),
                                        [this, &context, body, argument](boost::context::fiber&& left) {
                                          arrive(context, std::move(left));
                                          FiberContext& next = body(argument);
                                          left_ = &context;
                                          announce(next, nullptr);
                                          return std::move(next.fiber);
                                        });
}

void FiberSwitch::drop(FiberContext& context, StackPool& pool) {
  LaneStack stack;
  stack.memory.size = context.stack_bytes;
  stack.memory.sp = static_cast<char*>(const_cast<void*>(context.stack_bottom)) + context.stack_bytes;
  // The fiber is replaced instead of destroyed, because the destructor would resume the fiber to unwind it.
  new (&context.fiber) boost::context::fiber();
#if SIMT_TSAN_FIBERS
  // ThreadSanitizer's thread of this lane must not be used again, because the lane never left its functions.
  TsanFibers::all().destroy(std::exchange(context.tsan_fiber, nullptr));
#endif
  pool.give_back(stack);
}

void FiberSwitch::to(FiberContext& from, FiberContext& to) {
  left_ = &from;
  announce(to, &from.fake_stack);
  boost::context::fiber left = std::move(to.fiber).resume();
  arrive(from, std::move(left));
}

}  // namespace simt
