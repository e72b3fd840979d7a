// ConfinedKernel runs a kernel with all its work on some of the multiprocessors. It is launched with persistent blocks.
// The blocks on the other multiprocessors end immediately. Each remaining block executes blocks of the kernel, one
// after the other, until none is left.
//
// Paper: Vinkler & Havran 2015, sec. 6. The authors compare a GPU with 15 multiprocessors and one with 8, on which
// fewer threads compete for a word. Here a part of a GPU takes the place of the smaller GPU, at the same clock.
#pragma once

#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench {

// A thread that executes the work of another block.
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

// `next` counts the blocks that have been started.
template <class Kernel>
struct ConfinedKernel {
  template <class Thread, class A, class... Args>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint32_t sms, std::uint32_t blocks, std::uint32_t* next,
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
      Kernel{}(member, allocator, args...);
    }
  }
};

// The kernel's type for kernel lists. Only timed launches are confined.
template <class Kernel, class... Args>
using ConfinedKernelOn = BareKernelOn<ConfinedKernel<Kernel>, std::uint32_t, std::uint32_t, std::uint32_t*, Args...>;

}  // namespace allocbench
