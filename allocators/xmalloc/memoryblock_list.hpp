// MemoryblockList is the heap under the buffers of XMalloc as published. The free Memoryblocks are in one list (paper,
// section V-A), which is searched from its head.
//
// The paper does not say how the list is searched and has no concurrent protocol for splitting and merging. Assumed:
// The first block that is large enough serves a request, and every lane takes the only lock by an exchange of its
// own.
#pragma once

#include "allocators/support/common/lock.hpp"
#include "allocators/xmalloc/memory_chain.hpp"

namespace allocbench::xmalloc {

class MemoryblockList : public MemoryChain<1> {
 public:
  struct Control {
    std::uint32_t lock;
    Lists lists;
  };

  MemoryblockList() = default;
  MemoryblockList(std::byte* base, std::uint32_t units, Control* control)
      : MemoryChain(base, units, &control->lists), control_(control) {}

  template <class Thread>
  SIMT_FN void initialise(Thread& thread) const {
    store(thread, control_->lock, 0);
    MemoryChain::initialise(thread);
  }

  // Returns null if no free block is large enough.
  template <class Thread>
  SIMT_FN std::byte* malloc(Thread& thread, std::size_t bytes) const {
    if (refuses(bytes)) return nullptr;
    std::uint32_t block = none;
    alone(thread, [&] {
      block = take(thread, need_of(bytes));
      if (block != none) store(thread, header(block).used, 1);
    });
    return block == none ? nullptr : memory_of(block);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, std::byte* memory) const {
    alone(thread, [&] { merge(thread, block_of(memory)); });
  }

 private:
  // Runs `work` under the lock. `work` runs inside the loop, so that the lane that has the lock does not wait for lanes
  // of its warp that want the lock.
  template <class Thread, class Work>
  SIMT_FN void alone(Thread& thread, Work work) const {
    for (bool done = false; !done;) {
      if (try_lock(thread, control_->lock)) {
        work();
        unlock(thread, control_->lock);
        done = true;
      } else {
        thread.probe(simt::Step::retry);
        await_unlocked(thread, control_->lock);
      }
    }
  }

  Control* control_ = nullptr;
};

}  // namespace allocbench::xmalloc
