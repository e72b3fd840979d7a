// Runs a kernel on some of the multiprocessors only, with the same work: persistent blocks on the others end at once,
// and those that stay take the kernel's blocks one after the other.
//
// Vinkler & Havran 2015, sec. 6, compare a GPU of 15 multiprocessors with one of 8, on which fewer threads meet at one
// word. This makes the smaller one out of a larger one, at the same clock.
#pragma once

#include "allocators/contract/parameters.hpp"
#include "simt/simt.hpp"

namespace allocbench {

// A thread that works for another block than its own.
template <class Thread>
class ThreadOfBlock : public Thread {
 public:
  SIMT_FN ThreadOfBlock(const Thread& thread, std::uint32_t block, std::uint32_t blocks)
      : Thread(thread), block_(block), blocks_(blocks) {}

  SIMT_FN std::uint32_t block() const { return block_; }
  SIMT_FN std::uint32_t block_count() const { return blocks_; }
  SIMT_FN std::uint32_t rank_in_grid() const { return block_ * Thread::block_size() + Thread::rank_in_block(); }
  SIMT_FN std::uint32_t grid_size() const { return blocks_ * Thread::block_size(); }

 private:
  std::uint32_t block_;
  std::uint32_t blocks_;
};

// `next` counts the blocks that were taken.
template <class Kernel>
struct ConfinedKernel {
  template <class Thread, class... Args>
  SIMT_FN void operator()(Thread& thread, std::uint32_t sms, std::uint32_t blocks, std::uint32_t* next,
                          Args... args) const {
    if (thread.sm() >= sms) return;
    std::uint32_t* const taken = thread.template shared<std::uint32_t>(1);
    for (;;) {
      if (thread.rank_in_block() == 0) *taken = thread.atomic(*next).fetch_add(1u, simt::relaxed);
      thread.block_barrier();
      const std::uint32_t block = *taken;
      thread.block_barrier();
      if (block >= blocks) return;
      ThreadOfBlock<Thread> member(thread, block, blocks);
      Kernel{}(member, args...);
    }
  }
};

// Parameters of workloads that can be confined.
struct SmParameters {
  std::uint32_t sms = 0;
};
template <class P>
auto sm_fields() {
  const auto member = []<class T>(T SmParameters::*base) -> T P::* { return base; };
  return std::tuple{
      Field{"sms", member(&SmParameters::sms), "multiprocessors",
            "persistent blocks on so many multiprocessors do the work of the grid; 0: the grid itself runs, "
            "on all of them",
            "Vinkler & Havran 2015, sec. 6: 8 against 15"}
          .between(0, 1 << 16)};
}

class SmConfinement {
 public:
  // `launches` bounds those of a sample.
  SmConfinement(simt::Stream& stream, const SmParameters& parameters, std::uint32_t launches = 1)
      : stream_(stream), sms_(parameters.sms), next_(launches) {}

  // Before every sample.
  void prepare() {
    next_.fill_bytes(stream_, 0);
    launches_ = 0;
  }

  // Like simt::launch(). With `confine` false the kernel runs as it is: passes that are not timed need
  // no second instance of it.
  template <bool confine, class Kernel, class... Args>
  void launch(simt::LaunchShape shape, Kernel kernel, Args... args) {
    if constexpr (confine) {
      if (sms_ != 0) {
        const std::uint32_t blocks = shape.blocks;
        shape.shared_bytes = sizeof(std::uint32_t);
        shape.blocks =
            simt::max_resident_blocks<ConfinedKernel<Kernel>, std::uint32_t, std::uint32_t, std::uint32_t*, Args...>(
                stream_, shape.threads_per_block, shape.shared_bytes);
        simt::launch(stream_, shape, ConfinedKernel<Kernel>{}, sms_, blocks, next_.data() + launches_++, args...);
        return;
      }
    }
    simt::launch(stream_, shape, kernel, args...);
  }

  template <class Kernel, class... Args>
  simt::KernelAttributes attributes() const {
    return sms_ == 0 ? simt::kernel_attributes<Kernel, Args...>()
                     : simt::kernel_attributes<ConfinedKernel<Kernel>, std::uint32_t, std::uint32_t, std::uint32_t*,
                                               Args...>();
  }

 private:
  simt::Stream& stream_;
  std::uint32_t sms_;
  simt::Buffer<std::uint32_t> next_;  // a counter per launch
  std::uint32_t launches_ = 0;
};

}  // namespace allocbench
