// These functions check the heap on the host while no kernel runs: semaphores, queues, headers and masks must agree.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "allocators/ouroboros/array_hierarchy.hpp"
#include "allocators/ouroboros/chunk_heap.hpp"
#include "allocators/ouroboros/linked_list.hpp"
#include "allocators/ouroboros/page_heap.hpp"

namespace allocbench::ouroboros {

template <class T>
std::vector<T> copy_table(simt::Stream& stream, const T* table, std::size_t count) {
  std::vector<T> copy(count);
  if (count != 0) simt::copy_to_host(stream, copy.data(), table, count * sizeof(T));
  return copy;
}

using ChunkOfSegment = std::map<std::uint32_t, std::uint32_t>;

inline ChunkOfSegment segments_of(simt::Stream& stream, const ArrayHierarchy& order, const ArrayHierarchy::ClassState&,
                                  std::uint32_t id, const ChunkSpace&) {
  ChunkOfSegment chunks;
  for (const std::uint64_t entry :
       copy_table(stream, order.entries + order.layout.begin(id), order.layout.capacity(id))) {
    if (static_cast<std::uint32_t>(entry) == no_chunk) continue;
    chunks[static_cast<std::uint32_t>(entry >> 32)] = static_cast<std::uint32_t>(entry);
  }
  return chunks;
}

inline ChunkOfSegment segments_of(simt::Stream& stream, const LinkedList& order, const LinkedList::ClassState& state,
                                  std::uint32_t, const ChunkSpace& space) {
  ChunkOfSegment chunks;
  const auto nodes = copy_table(stream, order.nodes, space.pool.chunk_count);
  std::uint32_t chunk = LinkedList::chunk_of(state.head);
  while (chunk < nodes.size()) {
    const std::uint64_t node = nodes[chunk];
    if (!chunks.emplace(LinkedList::segment_of(node), chunk).second) return {};  // the links form a circle
    chunk = LinkedList::chunk_of(node);
  }
  return chunks;
}

// Returns the indices in the queue of a class from `front` to `back`. A missing index is returned as empty_slot.
template <class Policy>
std::vector<std::uint32_t> queue_contents(simt::Stream& stream, const Policy& heap, std::uint32_t id,
                                          const typename Policy::ClassState& state) {
  std::vector<std::uint32_t> indices;
  const std::uint32_t length = state.back - state.front;
  if (length == 0) return indices;
  if constexpr (Policy::Storage::virtualised) {
    const std::uint32_t log = heap.storage.slots_log(heap.space);
    const ChunkOfSegment chunks = segments_of(stream, heap.storage.order, state.storage.order, id, heap.space);
    std::vector<std::uint32_t> slots;
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint32_t number = state.front + i;
      const std::uint32_t in_segment = number & ((1u << log) - 1);
      if (i == 0 || in_segment == 0) {
        const auto chunk = chunks.find(number >> log);
        slots = chunk == chunks.end()
                    ? std::vector<std::uint32_t>(std::size_t{1} << log, empty_slot)
                    : copy_table(stream,
                                 reinterpret_cast<const std::uint32_t*>(
                                     heap.space.base + (std::size_t{chunk->second} << heap.space.chunk_log)),
                                 std::size_t{1} << log);
      }
      indices.push_back(slots[in_segment]);
    }
  } else {
    const std::uint32_t capacity = heap.storage.layout.capacity(id);
    const std::uint32_t* const ring = heap.storage.slots + heap.storage.layout.begin(id);
    for (std::uint32_t i = 0; i < length;) {
      const std::uint32_t begin = (state.front + i) & (capacity - 1);
      const std::uint32_t count = std::min(length - i, capacity - begin);
      const std::vector<std::uint32_t> part = copy_table(stream, ring + begin, count);
      indices.insert(indices.end(), part.begin(), part.end());
      i += count;
    }
  }
  return indices;
}

// ChunkTables holds copies of the headers and masks of all chunks.
struct ChunkTables {
  std::vector<std::uint32_t> headers;
  std::vector<std::uint32_t> masks;  // the bit masks of chunk-based variants
};

// Returns the first mistake in the queue of a class, or an empty text. Sets `units` to the number of free pages that
// the indices represent.
template <class Storage>
std::string wrong_index(const PageHeap<Storage>& heap, const ChunkTables& tables, std::uint32_t id,
                        const std::vector<std::uint32_t>& indices, std::uint64_t& units) {
  units = indices.size();
  for (const std::uint32_t page : indices) {
    const std::uint32_t chunk = page >> heap.space.pages_log(0);
    if (chunk >= heap.space.pool.chunk_count || page % (1u << id) != 0 || Header::id(tables.headers[chunk]) != id) {
      return "holds " + std::to_string(page) + ", which is not a page of the class";
    }
  }
  return {};
}

template <class Storage>
std::string wrong_index(const ChunkHeap<Storage>& heap, const ChunkTables& tables, std::uint32_t id,
                        const std::vector<std::uint32_t>& indices, std::uint64_t& units) {
  units = 0;
  for (const std::uint32_t chunk : indices) {
    if (chunk >= heap.space.pool.chunk_count || Header::id(tables.headers[chunk]) != id) {
      return "holds " + std::to_string(chunk) + ", which is not a chunk of the class";
    }
    const std::size_t first_word = std::size_t{chunk} * heap.mask_words(0);
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < heap.mask_words(id); ++i) bits += simt::popcount(tables.masks[first_word + i]);
    if (bits == 0) return "holds chunk " + std::to_string(chunk) + ", which has no free page";
    if (bits != Header::free_pages(tables.headers[chunk])) {
      return "holds chunk " + std::to_string(chunk) + ", whose mask and count differ";
    }
    units += bits;
  }
  return {};
}

// Returns the first mistake among the indices: an empty slot, a duplicate, or an index that is not below `end`. Returns
// an empty text if there is none. Does not sort, because there may be tens of millions of indices.
inline std::string repeated_index(const std::vector<std::uint32_t>& indices, std::uint64_t end) {
  if (indices.empty()) return {};
  std::vector<bool> seen(end);
  for (const std::uint32_t index : indices) {
    if (index == empty_slot) return "has an empty slot in its queue";
    if (index >= end) return "holds " + std::to_string(index) + ", which is beyond the pool";
    if (seen[index]) return "holds " + std::to_string(index) + " twice";
    seen[index] = true;
  }
  return {};
}

template <class Policy>
std::string broken_heap(simt::Stream& stream, const Policy& heap) {
  const auto classes = copy_table(stream, heap.classes, heap.space.class_count());
  const std::size_t chunks = heap.space.pool.chunk_count;
  ChunkTables tables{copy_table(stream, heap.space.headers, chunks), {}};
  if constexpr (Policy::chunk_based) tables.masks = copy_table(stream, heap.masks, chunks * heap.mask_words(0));
  for (std::uint32_t id = 0; id < heap.space.class_count(); ++id) {
    const typename Policy::ClassState& state = classes[id];
    const std::string who = "class " + std::to_string(id) + " ";
    if (state.free_pages.promises != 0) return who + "still expects pages, or waits for them";
    std::vector<std::uint32_t> indices = queue_contents(stream, heap, id, state);
    if constexpr (Policy::chunk_based) {
      for (std::uint32_t& index : indices) {
        if (index != empty_slot) index = Policy::chunk_of(index);
      }
    }
    const std::string repeated = repeated_index(indices, std::uint64_t{chunks} << heap.space.pages_log(0));
    if (!repeated.empty()) return who + repeated;
    if (indices.size() > state.storage.owned) return who + "holds more than it owns";
    if constexpr (Policy::Storage::virtualised) {
      const std::uint32_t per_chunk = Policy::chunk_based ? 1 : 1u << heap.space.pages_log(id);
      const std::uint32_t most = heap.storage.segments_for_all_chunks(heap.space, per_chunk);
      if (state.storage.segments > most) {
        return who + "has " + std::to_string(state.storage.segments) + " queue chunks and can need " +
               std::to_string(most);
      }
    }
    std::uint64_t units = 0;
    const std::string problem = wrong_index(heap, tables, id, indices, units);
    if (!problem.empty()) return who + problem;
    if (units != state.free_pages.units) {
      return who + "has " + std::to_string(units) + " free pages, its semaphore " +
             std::to_string(static_cast<std::int64_t>(state.free_pages.units));
    }
  }
  const ChunkPool::State pool = copy_table(stream, heap.space.pool.state, 1)[0];
  if (pool.returned.units != pool.back - pool.front) return "the ring of returned chunks and its semaphore differ";
  return {};
}

}  // namespace allocbench::ouroboros
