// The heap behind `thread.device_heap()`: bounded, deterministic, 16-byte aligned, null when full.
//
// It stands for CUDA's device heap, so it lies in device memory and never calls the C library: the same calls give the
// same addresses. Blocks carry boundary tags (Knuth, TAOCP 1, 2.5), free blocks hang in lists by power of two,
// and neighbours are merged at once. One lock guards it; no lane is preempted inside.
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

  // Before the first launch that uses the heap; false afterwards, as on CUDA.
  bool resize(std::size_t bytes);
  // Forgets all blocks: afterwards the heap is as new, with this size.
  void reset(std::size_t bytes);
  void* malloc(std::size_t bytes);
  // False if `block` is not a live block of this heap (a wild pointer or a second free).
  bool free(void* block);
  bool contains(const void* address) const;
  std::size_t bytes() const { return bytes_; }

 private:
  // In front of every block. Sizes are multiples of 16 and include the header.
  struct alignas(16) Header {
    std::uint64_t size_and_used;
    std::uint64_t previous_size;

    std::uint64_t size() const { return size_and_used & ~std::uint64_t{15}; }
    bool used() const { return (size_and_used & 1) != 0; }
  };
  // A free block keeps its list links where the user's bytes were.
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
  std::uint64_t* starts_ = nullptr;  // one bit per 16 bytes: a used block starts here
};

}  // namespace simt
