// Aligned<A> is the allocator A with all blocks at multiples of a given alignment.
//
// If the design's own alignment is enough, the request is unchanged. Otherwise the request grows by `alignment` bytes,
// and by up to 7 more if the design's alignment is less than a word. The block then begins at the first multiple that
// has room for a word in front of it. This word has the address of the original block. allocbench::aligned_malloc()
// (library/) does the same for single calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

// Returns how many bytes an aligned request needs in addition if blocks have the alignment `own`. The result is 0 if
// `own` is enough. Otherwise it is `alignment`, or more if `own` is less than a word.
SIMT_HOST_FN constexpr std::size_t surplus_of_alignment(std::size_t own, std::size_t alignment) {
  if (alignment <= own) return 0;
  return alignment + (own < sizeof(void*) ? sizeof(void*) - own : 0);
}

// Allocates `bytes` at a multiple of `alignment`, a power of two that must be the same for malloc and free of a block.
// Returns null also if the sum of `bytes` and the additional bytes overflows.
template <class Inner, class Thread>
SIMT_FN void* malloc_aligned(Inner& inner, Thread& thread, std::size_t bytes, std::size_t own, std::size_t alignment) {
  const std::size_t surplus = surplus_of_alignment(own, alignment);
  if (bytes + surplus < bytes) return nullptr;
  void* const block = inner.malloc(thread, bytes + surplus);
  if (surplus == 0 || block == nullptr) return block;
  const auto address = reinterpret_cast<std::uint64_t>(block);
  const std::uint64_t begin = (address + sizeof(void*) + alignment - 1) & ~std::uint64_t{alignment - 1};
  void** const aligned = reinterpret_cast<void**>(begin);
  aligned[-1] = block;
  return aligned;
}

template <class Inner, class Thread>
SIMT_FN void free_aligned(Inner& inner, Thread& thread, void* block, std::size_t own, std::size_t alignment) {
  if (surplus_of_alignment(own, alignment) != 0 && block != nullptr) block = static_cast<void**>(block)[-1];
  inner.free(thread, block);
}

template <class Inner, std::uint32_t own>
class AlignedSession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN AlignedSession(Inner inner, std::uint32_t alignment)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), alignment_(alignment) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    return malloc_aligned(inner_, thread, bytes, own, alignment_);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    free_aligned(inner_, thread, block, own, alignment_);
  }

 private:
  std::uint32_t alignment_;
};

template <class A>
class Aligned {
 public:
  static constexpr Traits traits = A::traits;
  using Parameters = typename A::Parameters;

  // With an alignment of 0, requests are unchanged.
  Aligned(const A& inner, std::uint32_t alignment) : inner_(inner), alignment_(alignment) {}

  template <class Thread>
  SIMT_FN auto attach(Thread& thread) {
    using Inner = decltype(allocbench::attach(inner_, thread));
    return AlignedSession<Inner, A::traits.alignment>(allocbench::attach(inner_, thread), alignment_);
  }

  const A& inner() const { return inner_; }

 private:
  A inner_;
  std::uint32_t alignment_;
};

}  // namespace allocbench
