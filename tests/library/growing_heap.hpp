// These functions check what a growing heap must do on both back ends. Each function returns what is wrong, or an empty
// text.
#pragma once

#include <string>
#include <vector>

#include "allocators/comb/comb.hpp"
#include "allocbench/growing_heap.hpp"

namespace allocbench::growing {

using Growing = GrowingHeap<Comb>;

// Each caller takes blocks until it gets null, and marks them.
struct TakeAll {
  template <class Thread, class Handle>
  SIMT_FN void operator()(Thread& thread, Handle heap, std::size_t bytes, std::uint64_t** blocks,
                          std::uint32_t most_each) const {
    const std::uint32_t rank = thread.rank_in_grid();
    for (std::uint32_t i = 0; i < most_each; ++i) {
      auto* const block = static_cast<std::uint64_t*>(heap.malloc(thread, bytes));
      if (block == nullptr) return;
      *block = std::uint64_t{rank} << 32 | i;
      blocks[rank * most_each + i] = block;
    }
  }
};

struct CountWrongMarks {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t** blocks, std::uint32_t most_each, std::uint32_t* wrong) const {
    const std::uint32_t rank = thread.rank_in_grid();
    for (std::uint32_t i = 0; i < most_each; ++i) {
      std::uint64_t* const block = blocks[rank * most_each + i];
      if (block != nullptr && *block != (std::uint64_t{rank} << 32 | i)) {
        thread.atomic(*wrong).fetch_add(1u, simt::relaxed);
      }
    }
  }
};

struct FreeAll {
  template <class Thread, class Handle>
  SIMT_FN void operator()(Thread& thread, Handle heap, std::uint64_t** blocks, std::uint32_t most_each) const {
    const std::uint32_t rank = thread.rank_in_grid();
    for (std::uint32_t i = 0; i < most_each; ++i) {
      heap.free(thread, blocks[rank * most_each + i]);
      blocks[rank * most_each + i] = nullptr;
    }
  }
};

// Holding has the blocks that 64 callers take and hold.
class Holding {
 public:
  static constexpr std::uint32_t callers = 64;

  Holding(simt::Stream& stream, std::size_t block_bytes, std::size_t most_bytes)
      : stream_(stream),
        block_bytes_(block_bytes),
        most_each_(static_cast<std::uint32_t>(most_bytes / block_bytes)),
        blocks_(std::size_t{callers} * most_each_) {
    blocks_.fill_bytes(stream, 0);
  }

  std::size_t take(const Growing& heap) {
    simt::launch(stream_, {2, callers / 2}, TakeAll{}, heap.handle(), block_bytes_, blocks_.data(), most_each_);
    return count() * block_bytes_;
  }
  void free(const Growing& heap) {
    simt::launch(stream_, {2, callers / 2}, FreeAll{}, heap.handle(), blocks_.data(), most_each_);
  }
  std::size_t count() const {
    std::size_t taken = 0;
    for (const std::uint64_t* block : blocks_.to_host(stream_)) taken += block != nullptr ? 1 : 0;
    return taken;
  }
  std::uint32_t wrong_marks() const {
    simt::Buffer<std::uint32_t> wrong(1);
    wrong.fill_bytes(stream_, 0);
    simt::launch(stream_, {2, callers / 2}, CountWrongMarks{}, blocks_.data(), most_each_, wrong.data());
    return wrong.to_host(stream_).front();
  }

 private:
  simt::Stream& stream_;
  std::size_t block_bytes_;
  std::uint32_t most_each_;
  simt::Buffer<std::uint64_t*> blocks_;
};

// Expects that blocks of this size, which fill chunks, get the whole pool. Then frees them.
inline std::string takes_all(const Growing& heap, simt::Stream& stream, std::size_t block_bytes) {
  Holding holding(stream, block_bytes, heap.pool_bytes());
  const std::size_t taken = holding.take(heap);
  holding.free(heap);
  stream.synchronize();
  if (taken == heap.pool_bytes()) return {};
  return "blocks of " + std::to_string(block_bytes) + " bytes get " + std::to_string(taken) + " bytes of a pool of " +
         std::to_string(heap.pool_bytes());
}

// Grows a pool of 2 MiB to 4 MiB and then to 32 MiB.
inline std::string problem_of_growth() {
  simt::Device device(0);
  simt::Stream stream(device);
  Growing heap(stream, 2 << 20, 32 << 20, {.chunk_bytes = 64 << 10});
  for (const std::size_t bytes : {2u << 20, 4u << 20, 32u << 20}) {
    heap.grow(bytes);
    if (heap.pool_bytes() != bytes) return "the pool has " + std::to_string(heap.pool_bytes()) + " bytes";
    if (std::string problem = takes_all(heap, stream, 1024); !problem.empty()) return problem;
    if (std::string problem = takes_all(heap, stream, 64 << 10); !problem.empty()) return problem;
    if (std::string problem = heap.check(); !problem.empty()) return problem;
    const HeapUsage usage = heap.usage();
    if (usage.blocks != 0 || usage.bytes != 0) return std::to_string(usage.blocks) + " blocks are left";
    if (usage.largest_request != bytes) return std::to_string(usage.largest_request) + " bytes would be served";
  }
  return {};
}

// Checks blocks that are in use while the pool grows, and blocks that are allocated afterwards.
inline std::string problem_of_blocks() {
  simt::Device device(0);
  simt::Stream stream(device);
  Growing heap(stream, 2 << 20, 8 << 20, {.chunk_bytes = 64 << 10});
  Holding first(stream, 512, 2 << 20);
  if (first.take(heap) != 2 << 20) return "the first pool is not full";
  heap.grow(8 << 20);
  Holding second(stream, 2048, 6 << 20);
  if (second.take(heap) != 6 << 20) return "what was added is not full";
  if (first.wrong_marks() + second.wrong_marks() != 0) return "blocks have lost their marks";
  if (heap.usage().bytes != 8 << 20) return std::to_string(heap.usage().bytes) + " bytes are in use";
  first.free(heap);
  second.free(heap);
  if (heap.usage().blocks != 0) return "blocks are left";
  return heap.check();
}

}  // namespace allocbench::growing
