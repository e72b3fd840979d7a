// These functions make aligned, zeroed and resized requests with malloc and free of any allocator of the suite.
//
//   void* block = allocbench::aligned_malloc(heap, thread, bytes, 128);   // ... aligned_free(heap, thread, block, 128)
//   void* zeros = allocbench::calloc(heap, thread, count, bytes);         // ... heap.free(thread, zeros)
//   block = allocbench::realloc(heap, thread, block, old_bytes, new_bytes);
//
// `heap` is a handle, or a session if the design has a state per thread or warp
// (allocators/support/contract/session.hpp). Each function that returns a block may return null, like malloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "allocators/support/adaptors/aligned.hpp"
#include "simt/simt.hpp"

namespace allocbench {

// Returns the alignment of every block of the heap.
template <class Heap>
SIMT_HOST_FN constexpr std::size_t own_alignment() {
  if constexpr (requires { std::remove_cvref_t<Heap>::traits.alignment; }) {
    return std::remove_cvref_t<Heap>::traits.alignment;
  } else {
    return 16;  // sessions do not give their alignment
  }
}

// Returns the additional bytes of an aligned request: none if every block has this alignment, otherwise `alignment`,
// or more if blocks are aligned to less than a word. The aligned block begins at the first multiple with room for a
// word in front of it. This word leads back to the original block.
template <class Heap>
SIMT_HOST_FN constexpr std::size_t alignment_surplus(std::size_t alignment) {
  return surplus_of_alignment(own_alignment<Heap>(), alignment);
}

// Returns a block at a multiple of `alignment` bytes, for aligned_free() with the same alignment. Returns null also if
// the alignment is not a power of two, or if the size plus the additional bytes overflows a word.
template <class Heap, class Thread>
SIMT_FN void* aligned_malloc(Heap& heap, Thread& thread, std::size_t bytes, std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
  return malloc_aligned(heap, thread, bytes, own_alignment<Heap>(), alignment);
}

// Frees an aligned block. Null is allowed.
template <class Heap, class Thread>
SIMT_FN void aligned_free(Heap& heap, Thread& thread, void* block, std::size_t alignment) {
  free_aligned(heap, thread, block, own_alignment<Heap>(), alignment);
}

// Returns a block of `count` times `bytes` zero bytes. Returns null also if the product overflows a word.
template <class Heap, class Thread>
SIMT_FN void* calloc(Heap& heap, Thread& thread, std::size_t count, std::size_t bytes) {
  const std::size_t all = count * bytes;
  if (bytes != 0 && all / bytes != count) return nullptr;
  void* const block = heap.malloc(thread, all);
  if (block == nullptr) return nullptr;
  return memset(block, 0, all);
}

// Copies the contents of `block` into a new block of `new_bytes`, up to the smaller size, and frees the old block. The
// caller passes the old size, because designs do not report it. If there is no room, the result is null and the old
// block stays valid. With null as `block` this is a malloc.
template <class Heap, class Thread>
SIMT_FN void* realloc(Heap& heap, Thread& thread, void* block, std::size_t old_bytes, std::size_t new_bytes) {
  void* const moved = heap.malloc(thread, new_bytes);
  if (moved == nullptr || block == nullptr) return moved;
  memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
  heap.free(thread, block);
  return moved;
}

}  // namespace allocbench
