// Delayed<A> is the allocator A with a wait in every malloc and every free.
//
// The adaptor shows how much an application depends on its allocator. If the time of the application grows linearly
// with the cycles that every call waits, the slope is the number of calls that wait one after another. If the slope is
// 0, a faster allocator would not help. `python3 -m plots delay` computes the slopes (docs/beyond.md). Each calling
// lane waits before the call, by the clock of its multiprocessor; the lanes of a warp wait together. On the CPU
// executor a cycle is a step of the lane's worker.
#pragma once

#include <tuple>

#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

// A call waits for at least this number of cycles. With 0, it does not wait.
struct CallDelays {
  std::uint32_t malloc_cycles = 0;
  std::uint32_t free_cycles = 0;
};

template <class Inner>
class DelayedSession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN DelayedSession(Inner inner, const CallDelays& delays)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), delays_(delays) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    wait(thread, delays_.malloc_cycles);
    return inner_.malloc(thread, bytes);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    wait(thread, delays_.free_cycles);
    inner_.free(thread, block);
  }

 private:
  template <class Thread>
  static SIMT_FN void wait(Thread& thread, std::uint32_t cycles) {
    if (cycles == 0) return;
    const std::uint64_t begin = thread.clock();
    while (thread.clock() - begin < cycles) thread.spin_hint();
  }

  CallDelays delays_;
};

template <class A>
class Delayed {
 public:
  struct Parameters : A::Parameters {
    std::uint32_t malloc_delay = 0;
    std::uint32_t free_delay = 0;

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          A::Parameters::fields(),
          std::tuple{
              Field{"malloc_delay", &P::malloc_delay, "cycles", "wait before every malloc", "this suite"}.between(
                  0, 1 << 24),
              Field{"free_delay", &P::free_delay, "cycles", "wait before every free", "this suite"}.between(0,
                                                                                                            1 << 24)});
    }
  };

  // Returns the traits of A under another name, as a delayed form of A.
  static constexpr Traits traits_as(std::string_view name, std::string_view display_name) {
    Traits traits = A::traits;
    traits.name = name;
    traits.display_name = display_name;
    traits.summary = "waits a number of cycles in every call, to show how much an application depends on its allocator";
    traits.form = Form::delayed;
    traits.based_on = A::traits.name;
    return traits;
  }

  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return allocbench::max_request<A>(pool_bytes, parameters);
  }
  static std::size_t device_heap_bytes(std::size_t pool_bytes, const Parameters& parameters) {
    return allocbench::device_heap_bytes<A>(pool_bytes, parameters);
  }
  static SmallHeap<Parameters> small_heap() {
    const auto inner = allocbench::small_heap<A>();
    return {inner.pool_bytes, {inner.parameters}, inner.serves_again, inner.serves_other_sizes};
  }

  void reset(simt::Stream& stream) { inner_.reset(stream); }
  std::string broken_invariant(simt::Stream& stream) const {
    if constexpr (requires { inner_.broken_invariant(stream); }) {
      return inner_.broken_invariant(stream);
    } else {
      return {};
    }
  }

  template <class Thread>
  SIMT_FN auto attach(Thread& thread) {
    return DelayedSession<decltype(allocbench::attach(inner_, thread))>(allocbench::attach(inner_, thread), delays_);
  }

 protected:
  Delayed(Arena& arena, const Parameters& parameters)
      : inner_(A::create(arena, parameters)), delays_{parameters.malloc_delay, parameters.free_delay} {}

 private:
  A inner_;
  CallDelays delays_;
};

}  // namespace allocbench
