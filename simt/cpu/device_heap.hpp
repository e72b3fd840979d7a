// DeviceHeapMemory is the heap of `thread.device_heap()`. It is bounded and deterministic, and its blocks are aligned
// to 16 bytes. malloc() returns null if no free block is large enough.
//
// This heap replaces CUDA's device heap. It is in device memory and never uses the host's heap, so the same calls give
// the same addresses. Blocks have boundary tags (Knuth, TAOCP 1, 2.5), free blocks are in lists by power of two, and
// free neighbours are merged immediately. One lock guards the heap, and no lane is preempted while it holds the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace simt {

class DeviceHeapMemory {
 public:
  explicit DeviceHeapMemory(std::size_t bytes) : bytes_(bytes) {}
  ~DeviceHeapMemory();
  DeviceHeapMemory(const DeviceHeapMemory&) = delete;
  DeviceHeapMemory& operator=(const DeviceHeapMemory&) = delete;

  // Sets the size and returns true. After the first malloc() since construction or reset(), resize() changes nothing
  // and returns false.
  bool resize(std::size_t bytes);
  // Discards all blocks and gives the heap this size.
  void reset(std::size_t bytes);
  void* malloc(std::size_t bytes);
  // Frees a block; null is allowed. Returns false if `block` is not a live block of this heap (a wild pointer or a
  // second free).
  bool free(void* block);
  bool contains(const void* address) const;
  std::size_t bytes() const { return bytes_; }

 private:
  // Header lies in front of every block. Sizes are multiples of 16 and include the header.
  struct alignas(16) Header {
    std::uint64_t size_and_used;
    std::uint64_t previous_size;

    std::uint64_t size() const { return size_and_used & ~std::uint64_t{15}; }
    bool used() const { return (size_and_used & 1) != 0; }
  };
  // FreeBlock keeps its list links at the place of the user's bytes.
  struct FreeBlock : Header {
    FreeBlock* next;
    FreeBlock* previous;
  };
  static constexpr std::uint32_t list_count = 48;

  static std::uint32_t list_of(std::uint64_t size);
  static FreeBlock* after(FreeBlock* block);
  void map();
  FreeBlock* find(std::uint64_t size) const;
  void link(FreeBlock* block);
  void unlink(FreeBlock* block);
  void set_size(FreeBlock* block, std::uint64_t size, bool used);
  bool is_live_block(const void* block) const;

  mutable std::mutex mutex_;
  std::size_t bytes_;
  std::byte* base_ = nullptr;
  FreeBlock* lists_[list_count] = {};
  std::uint64_t* starts_ = nullptr;  // one bit per 16 bytes, set if a used block starts there
};

}  // namespace simt
