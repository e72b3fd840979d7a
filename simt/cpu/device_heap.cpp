#include "simt/cpu/device_heap.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "simt/cpu/memory.hpp"

namespace simt {
namespace {

constexpr std::uint64_t unit = 16;

}  // namespace

DeviceHeapMemory::~DeviceHeapMemory() {
  device_memory::release(base_);
  device_memory::release(starts_);
}

bool DeviceHeapMemory::resize(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (base_ != nullptr) return false;
  bytes_ = bytes;
  return true;
}

void DeviceHeapMemory::reset(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  device_memory::release(std::exchange(base_, nullptr));
  device_memory::release(std::exchange(starts_, nullptr));
  std::fill(std::begin(lists_), std::end(lists_), nullptr);
  bytes_ = bytes;
}

// Returns the index of the free list for blocks of this size. Blocks of 2^k to 2^(k+1) - 1 bytes share list k.
std::uint32_t DeviceHeapMemory::list_of(std::uint64_t size) {
  return std::min(static_cast<std::uint32_t>(std::bit_width(size)) - 1, list_count - 1);
}

DeviceHeapMemory::FreeBlock* DeviceHeapMemory::after(FreeBlock* block) {
  return reinterpret_cast<FreeBlock*>(reinterpret_cast<std::byte*>(block) + block->size());
}

// Maps the heap. The last header is a used block of size zero, so that no block needs a test for the end.
void DeviceHeapMemory::map() {
  bytes_ = std::max<std::size_t>(bytes_ / unit * unit, 4 * unit);
  base_ = static_cast<std::byte*>(device_memory::allocate(bytes_));
  const std::size_t start_words = bytes_ / unit / 64 + 1;
  starts_ = static_cast<std::uint64_t*>(device_memory::allocate(start_words * sizeof *starts_));
  std::memset(starts_, 0, start_words * sizeof *starts_);
  auto* first = reinterpret_cast<FreeBlock*>(base_);
  first->previous_size = 0;
  auto* end = reinterpret_cast<Header*>(base_ + bytes_ - sizeof(Header));
  end->size_and_used = 1;
  set_size(first, bytes_ - sizeof(Header), false);
  link(first);
}

void DeviceHeapMemory::set_size(FreeBlock* block, std::uint64_t size, bool used) {
  block->size_and_used = size | (used ? 1 : 0);
  after(block)->previous_size = size;
}

void DeviceHeapMemory::link(FreeBlock* block) {
  FreeBlock*& head = lists_[list_of(block->size())];
  block->next = head;
  block->previous = nullptr;
  if (head != nullptr) head->previous = block;
  head = block;
}

void DeviceHeapMemory::unlink(FreeBlock* block) {
  if (block->previous != nullptr) {
    block->previous->next = block->next;
  } else {
    lists_[list_of(block->size())] = block->next;
  }
  if (block->next != nullptr) block->next->previous = block->previous;
}

// Returns a free block of at least this size, or null. The list for this size is searched first-fit, because its blocks
// may be too small. Any block of a higher list fits.
DeviceHeapMemory::FreeBlock* DeviceHeapMemory::find(std::uint64_t size) const {
  for (std::uint32_t list = list_of(size); list < list_count; ++list) {
    for (FreeBlock* block = lists_[list]; block != nullptr; block = block->next) {
      if (block->size() >= size) return block;
    }
  }
  return nullptr;
}

void* DeviceHeapMemory::malloc(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (base_ == nullptr) map();
  // The addition overflows as in CUDA's device heap: the largest requests get small blocks.
  const std::uint64_t size =
      std::max<std::uint64_t>((bytes + sizeof(Header) + unit - 1) / unit * unit, sizeof(FreeBlock));
  FreeBlock* block = find(size);
  if (block == nullptr) return nullptr;
  unlink(block);
  const std::uint64_t rest = block->size() - size;
  if (rest >= sizeof(FreeBlock)) {
    set_size(block, size, true);
    FreeBlock* tail = after(block);
    set_size(tail, rest, false);
    link(tail);
  } else {
    set_size(block, block->size(), true);
  }
  std::byte* result = reinterpret_cast<std::byte*>(block) + sizeof(Header);
  const std::uint64_t index = static_cast<std::uint64_t>(result - base_) / unit;
  starts_[index / 64] |= std::uint64_t{1} << (index % 64);
  return result;
}

bool DeviceHeapMemory::is_live_block(const void* block) const {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  if (base_ == nullptr || address < base || address >= base + bytes_ || address % unit != 0) return false;
  const std::uint64_t index = (address - base) / unit;
  return (starts_[index / 64] >> (index % 64) & 1) != 0;
}

bool DeviceHeapMemory::free(void* memory) {
  if (memory == nullptr) return true;
  const std::lock_guard lock(mutex_);
  if (!is_live_block(memory)) return false;
  const std::uint64_t index = static_cast<std::uint64_t>(static_cast<std::byte*>(memory) - base_) / unit;
  starts_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  auto* block = reinterpret_cast<FreeBlock*>(static_cast<std::byte*>(memory) - sizeof(Header));
  std::uint64_t size = block->size();
  FreeBlock* next = after(block);
  if (!next->used()) {
    unlink(next);
    size += next->size();
  }
  if (block->previous_size != 0) {
    auto* previous = reinterpret_cast<FreeBlock*>(reinterpret_cast<std::byte*>(block) - block->previous_size);
    if (!previous->used()) {
      unlink(previous);
      size += previous->size();
      block = previous;
    }
  }
  set_size(block, size, false);
  link(block);
  return true;
}

bool DeviceHeapMemory::contains(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto* byte = static_cast<const std::byte*>(address);
  return base_ != nullptr && byte >= base_ && byte < base_ + bytes_;
}

}  // namespace simt
