// CheckedHandle<A> is a handle with which kernels call the allocator A. Its free() ends the launch if the block is
// outside the heap, for example in another heap. Without this check, the allocator would treat the address as its own
// and could write anywhere. On a GPU, free() accepts any address if the design has blocks in the device heap.
//
// Kernels get this handle from Heap<A> on the CPU executor, and on a GPU if the program is compiled with
// ALLOCBENCH_CHECK_FREES.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocators/support/contract/allocator.hpp"
#include "simt/simt.hpp"

namespace allocbench {

#if SIMT_CUDA && !defined(ALLOCBENCH_CHECK_FREES)
inline constexpr bool checks_frees = false;
#else
inline constexpr bool checks_frees = true;
#endif

// HeapBounds describes the memory in which a heap has its blocks.
struct HeapBounds {
  std::uint64_t begin = 0;  // address of the pool
  std::uint64_t end = 0;
  const simt::Device* device = nullptr;  // device whose device heap also has blocks; null if the pool has all blocks

#if SIMT_CUDA
  // CUDA does not report where its device heap is, so any address is accepted if blocks may be there.
  template <class Thread>
  SIMT_FN void require(Thread& thread, const void* block) const {
    const auto address = reinterpret_cast<std::uint64_t>(block);
    if (block == nullptr || device != nullptr || (address >= begin && address < end)) return;
    printf("allocbench: thread %u of block %u frees 0x%llx, which does not lie in this heap, 0x%llx to 0x%llx\n",
           thread.rank_in_block(), thread.block(), static_cast<unsigned long long>(address),
           static_cast<unsigned long long>(begin), static_cast<unsigned long long>(end));
    thread.trap();
  }
#else
  template <class Thread>
  void require(Thread& thread, const void* block, simt::CallSite site) const {
    const auto address = reinterpret_cast<std::uint64_t>(block);
    if (block == nullptr || (address >= begin && address < end)) return;
    if (device != nullptr && device->in_device_heap(block)) return;
    const std::string text = "free of " + hexadecimal(address) + ", which does not lie in this heap, " +
                             hexadecimal(begin) + " to " + hexadecimal(end) +
                             (device == nullptr ? "" : ", or in the device heap");
    thread.executor_lane().fail(simt::FaultKind::failed_check, text.c_str(), site);
  }

 private:
  static std::string hexadecimal(std::uint64_t number) {
    std::string text;
    for (; number != 0 || text.empty(); number /= 16) text.insert(text.begin(), "0123456789abcdef"[number % 16]);
    return "0x" + text;
  }
#endif
};

template <class Inner>
class CheckedSession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN CheckedSession(Inner inner, const HeapBounds& bounds)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), bounds_(bounds) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return inner_.malloc(thread, bytes);
  }
#if SIMT_CUDA
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    bounds_.require(thread, block);
    inner_.free(thread, block);
  }
#else
  template <class Thread>
  void free(Thread& thread, void* block, simt::CallSite site = simt::CallSite::here()) {
    bounds_.require(thread, block, site);
    inner_.free(thread, block);
  }
#endif

 private:
  HeapBounds bounds_;
};

template <Allocator A>
class CheckedHandle : public A {
 public:
  CheckedHandle(const A& allocator, const HeapBounds& bounds) : A(allocator), bounds_(bounds) {}

#if SIMT_CUDA
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    bounds_.require(thread, block);
    A::free(thread, block);
  }
#else
  template <class Thread>
  void free(Thread& thread, void* block, simt::CallSite site = simt::CallSite::here()) {
    bounds_.require(thread, block, site);
    A::free(thread, block);
  }
#endif
  template <class Thread>
  SIMT_FN auto attach(Thread& thread) requires requires(A& allocator) {
    allocator.attach(thread);
  }
  { return CheckedSession<decltype(A::attach(thread))>(A::attach(thread), bounds_); }

 private:
  HeapBounds bounds_;
};

}  // namespace allocbench
