// This file brings an allocator to a given share of free pages before a measurement.
//
// The pattern of the free pages is a part of the setting (workloads/support/random/page_set.hpp):
//   uniform      a random set of pages is in use; its size is rounded to whole clusters of pages
//   first_fit    the first pages are in use; the others are free
//   self_filled  the allocator's own malloc takes the pages
//
// An allocator of equal pages that can mark pages as used has these members:
//   std::uint32_t page_count() const;
//   template <class Used> void occupy(simt::Stream&, const Used& used) const;  // used(page): is this page in use?
// The heap must be fresh for these calls. Marked pages have no owner, and reset() frees them. Any other allocator is
// filled by its own malloc, and the blocks that should be free are freed again (Occupants). All counts are then counts
// of requests instead of pages.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/support/contract/allocator_handle.hpp"
#include "workloads/support/random/page_set.hpp"

namespace allocbench {

// Makes requests `begin` to `end` - 1.
using MakeRequests = std::function<void(std::size_t begin, std::size_t end)>;

// Calls AllocatorHandle::fill(). If contents are checked and blocks were restored, the blocks are entered into the
// ledger as if malloc had just returned them.
void fill_pool(simt::Stream& stream, const AllocatorHandle& allocator, const FilledPool::Requests& requests,
               void** blocks, const MakeRequests& make);

// Occupants are blocks from the allocator's own malloc that keep memory in use.
class Occupants {
 public:
  // With more requests per launch Ouroboros needs longer to fill a pool. With fewer requests per launch ScatterAlloc
  // needs longer, because its searches start at the same place in each launch.
  static constexpr std::size_t most_together = 1 << 16;

  // enter() makes up to `count` requests, `together` of them in each launch.
  Occupants(simt::Stream& stream, std::uint32_t count, std::size_t together = most_together)
      : stream_(stream), together_(together), blocks_(count) {}

  std::uint32_t count() const { return static_cast<std::uint32_t>(blocks_.size()); }

  // Makes the requests until 1,024 are refused, and frees the blocks that are not `used`. A later call on a fresh
  // allocator may restore the result of the requests instead (workloads/support/contract/filled_pool.hpp).
  void enter(const AllocatorHandle& allocator, std::uint64_t bytes, const PageSet& used);
  // Frees the `used` blocks, unless the allocator will be reset.
  void leave(const AllocatorHandle& allocator, const PageSet& used);

  // Returns the number of blocks that are in use.
  std::uint32_t present() const;
  // Returns the blocks that are in use.
  std::vector<void*> blocks() const;

 private:
  void fill(const AllocatorHandle& allocator, std::uint64_t bytes);
  void count_refusals(std::size_t requests);
  simt::LaunchShape shape() const;

  simt::Stream& stream_;
  std::size_t together_;
  simt::Buffer<void*> blocks_;
  simt::Buffer<std::uint32_t> refusals_{1};
};

}  // namespace allocbench
