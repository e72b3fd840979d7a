// These functions compute, on the host, the number of free pages that the constants of the published form allow.
//
// A queue of pages holds all free pages of a class. A flat ring has room for one page per slot, and the array hierarchy
// has room for one page per slot of the queue chunks in its directory. A free beyond this limit waits for a malloc,
// possibly forever. The semaphore of a class counts to 2^24 - 1 (packed_semaphore.hpp). Beyond that, the count
// overflows into the field of expected pages and becomes negative. Mallocs then wait for pages that no lane makes, and
// return null. With the authors' constants, 40 million free pages of one class exceed all these limits.
#pragma once

#include <algorithm>

#include "allocators/ouroboros/published/layout.hpp"
#include "allocators/support/common/request.hpp"

namespace allocbench::ouroboros::published {

inline constexpr std::uint64_t most_counted = (PackedSemaphore::field >> 1);

// Returns the number of pages that class `id` has if it gets all chunks of a heap that planned_heap() made.
template <class Policy>
std::uint64_t pages_of_class(const Policy& heap, std::uint32_t id) {
  const HeadedChunks& chunks = heap.chunks;
  const std::uint64_t per_chunk = std::uint64_t{1} << chunks.pages_log(id);
  if (!Policy::Queue::virtualised) return chunks.chunk_count * per_chunk;
  // commit() reserves a share of a queue chunk for the indices of each chunk of pages.
  const std::uint64_t slots = std::uint64_t{1} << chunks.slots_log();
  const std::uint64_t indices = Policy::chunk_based ? 1 : per_chunk;
  return (chunks.chunk_count - reserved_chunks(heap)) * slots / (slots + indices) * per_chunk;
}

// Returns the largest number of pages that the queue of class `id` can hold. A linked list and a queue of chunks have
// no bound.
template <class Policy>
std::uint64_t most_queued(const Policy& heap, std::uint32_t id) {
  if constexpr (Policy::chunk_based) return ~std::uint64_t{0};
  if constexpr (requires { heap.queue.directory_log; }) {
    // Slots of up to two queue chunks hold no pages: those before the front in the first queue chunk, and those of the
    // queue chunk that is made in advance.
    return ((std::uint64_t{1} << heap.queue.directory_log) - 2) << heap.chunks.slots_log();
  } else if constexpr (requires { heap.queue.capacity(id); }) {
    return heap.queue.capacity(id);
  } else {
    return ~std::uint64_t{0};
  }
}

struct FreePages {
  std::uint64_t in_pool = 0;
  std::uint64_t free = 0;  // number of pages that are free
  std::uint64_t most_queued = 0;

  bool all_can_be_queued() const { return in_pool <= most_queued; }
  bool are_counted() const { return free <= most_counted; }
};

// Returns the FreePages of class `id` if the fraction `free_share` of its pages is free. Throws Unsupported if the pool
// cannot be laid out.
template <class Policy>
FreePages free_pages_in(std::size_t pool_bytes, const Parameters& parameters, std::uint32_t id, double free_share) {
  const auto heap = planned_heap<Policy>(pool_bytes, parameters, "this form");
  const std::uint64_t pages = pages_of_class(heap, id);
  return {pages, static_cast<std::uint64_t>(static_cast<double>(pages) * free_share), most_queued(heap, id)};
}

// Returns text for a config, with a larger value of the constant that limits the queue. The function doubles the
// constant until it is sufficient. Returns an empty text if no value is sufficient.
template <class Policy>
std::string constant_that_would_do(std::size_t pool_bytes, Parameters parameters, std::uint32_t id, double free_share) {
  const bool ring = !Policy::Queue::virtualised;
  std::uint64_t& value = ring ? parameters.ring_capacity : parameters.directory_capacity;
  const std::uint64_t most = ring ? std::uint64_t{1} << 31 : std::uint64_t{1} << 20;
  for (value *= 2; value <= most; value *= 2) {
    try {
      const FreePages pages = free_pages_in<Policy>(pool_bytes, parameters, id, free_share);
      if (!pages.all_can_be_queued() || !pages.are_counted()) continue;
    } catch (const Unsupported&) {
      return {};
    }
    return std::string("\"parameters\": {\"") + (ring ? "ring_capacity" : "directory_capacity") +
           "\": " + std::to_string(value) + "} bears them";
  }
  return {};
}

// Explains why a pool cannot be filled with blocks of `bytes` that are all freed in the end. Before the requests, the
// share `free_share` of the pages is free. Returns an empty text if the pool can be filled.
template <class Policy>
std::string why_too_many_free(std::size_t pool_bytes, const Parameters& parameters, std::size_t bytes,
                              double free_share) {
  if (bytes > parameters.chunk_bytes) return {};
  const std::uint32_t id = log2_of(static_cast<std::uint32_t>(bytes), 4) - 4;
  FreePages pages;
  try {
    pages = free_pages_in<Policy>(pool_bytes, parameters, id, free_share);
  } catch (const Unsupported&) {
    return {};  // create() reports the error
  }
  const bool fit = pages.all_can_be_queued();
  if (fit && pages.are_counted()) return {};
  std::string remedy = constant_that_would_do<Policy>(pool_bytes, parameters, id, free_share);
  if (remedy.empty()) remedy = "use a smaller pool, larger blocks or a smaller free share";
  const std::string size = " of " + std::to_string(16u << id) + " B";
  if (!fit) {
    return "its queue holds at most " + std::to_string(pages.most_queued) +
           " free pages of a class, and the pool has " + std::to_string(pages.in_pool) + size + "; " + remedy;
  }
  return "its semaphore counts at most " + std::to_string(most_counted) + " free pages of a class, and " +
         std::to_string(pages.free) + size + " would be free; " + remedy;
}

}  // namespace allocbench::ouroboros::published
