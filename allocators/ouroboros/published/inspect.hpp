// These functions check the published heap while no other kernel runs: semaphores, queues, headers and masks must
// agree. Copying a pool to the host would be slow, so a kernel checks the pool and writes the code of one mistake.
#pragma once

#include <algorithm>

#include "allocators/ouroboros/published/layout.hpp"

namespace allocbench::ouroboros::published {

enum class Broken : std::uint32_t {
  nothing,
  promises,    // pages are still expected or reserved
  empty_slot,  // a slot between front and back is empty
  index,       // a queue holds a page that is not of its class
  mask         // the mask of a chunk has fewer or more bits than the count
};

inline const char* text_of(Broken broken) {
  switch (broken) {
    case Broken::nothing:
      return "";
    case Broken::promises:
      return "a semaphore still expects pages, or pages are reserved";
    case Broken::empty_slot:
      return "a queue has an empty slot between front and back";
    case Broken::index:
      return "a queue holds a page that is not of its class";
    case Broken::mask:
      return "the mask of a chunk has not as many bits as its count says";
  }
  return "unknown";
}

// InspectQueues counts the free pages of each class: the indices in its queue (page-based), or the pages that its
// chunks count as free (chunk-based). `free_pages` must be zero at first.
struct InspectQueues {
  template <class Thread, class Queue>
  SIMT_FN void operator()(Thread& thread, PageQueueHeap<Queue> heap, std::uint32_t* free_pages,
                          std::uint32_t* broken) const {
    const HeadedChunks& chunks = heap.chunks;
    for (std::uint32_t id = 0; id < chunks.class_count(); ++id) {
      auto& state = heap.classes[id];
      const std::uint32_t length = state.back - state.front;
      if (thread.rank_in_grid() == 0) free_pages[id] = length;
      for (std::uint32_t i = thread.rank_in_grid(); i < length; i += thread.grid_size()) {
        Place place{};
        const std::uint32_t index = heap.queue.look(thread, chunks, state.ends, id, state.front + i, place);
        if (index == empty_slot || index == gone) {
          note(thread, broken, Broken::empty_slot);
          continue;
        }
        const std::uint32_t chunk = index >> chunks.pages_log(0);
        if (chunk >= chunks.chunk_count || chunks.header(chunk).page_bytes != 16u << id) {
          note(thread, broken, Broken::index);
        }
      }
    }
  }

  template <class Thread, class Queue>
  SIMT_FN void operator()(Thread& thread, ChunkQueueHeap<Queue> heap, std::uint32_t* free_pages,
                          std::uint32_t* broken) const {
    const HeadedChunks& chunks = heap.chunks;
    const std::uint32_t used = chunks.control->next_fresh;
    for (std::uint32_t chunk = thread.rank_in_grid(); chunk < used; chunk += thread.grid_size()) {
      const ChunkHeader& header = chunks.header(chunk);
      if (header.page_bytes == 0) continue;
      std::uint32_t bits = 0;
      for (std::uint32_t word = 0; word < (header.pages + 31) / 32; ++word) bits += simt::popcount(header.mask[word]);
      const auto free = static_cast<std::int32_t>(header.free_pages);
      // release_chunk() sets the count of a returned chunk to 0 and leaves the bits of its mask set, so a count of 0 is
      // not checked.
      if (free < 0 || (free != 0 && bits != header.free_pages)) note(thread, broken, Broken::mask);
      const std::uint32_t id = simt::count_trailing_zeros(header.page_bytes) - 4;
      thread.atomic(free_pages[id]).fetch_add(header.free_pages, simt::relaxed);
    }
  }

 private:
  template <class Thread>
  static SIMT_FN void note(Thread& thread, std::uint32_t* broken, Broken what) {
    thread.atomic(*broken).store(static_cast<std::uint32_t>(what), simt::relaxed);
  }
};

template <class Policy>
std::string broken_heap(simt::Stream& stream, const Policy& heap) {
  const std::uint32_t classes = heap.chunks.class_count();
  simt::Buffer<std::uint32_t> words(classes + 1);
  words.fill_bytes(stream, 0);
  // In a linked queue, the kernel walks from the front to each slot. Therefore many threads share the work.
  constexpr std::uint32_t threads = 64;
  const std::uint32_t blocks = std::clamp(heap.chunks.chunk_count / threads, 8u, 1024u);
  simt::launch(stream, {blocks, threads}, InspectQueues{}, heap, words.data(), words.data() + classes);
  const std::vector<std::uint32_t> found = words.to_host(stream);
  if (found[classes] != 0) return text_of(static_cast<Broken>(found[classes]));
  std::vector<typename Policy::ClassState> states(classes);
  simt::copy_to_host(stream, states.data(), heap.classes, classes * sizeof states[0]);
  for (std::uint32_t id = 0; id < classes; ++id) {
    const std::uint64_t word = states[id].free_pages;
    if (PackedSemaphore::expected(word) != 0 || PackedSemaphore::reserved(word) != 0) return text_of(Broken::promises);
    if (PackedSemaphore::count(word) != static_cast<std::int32_t>(found[id])) {
      return "class " + std::to_string(id) + " shows " + std::to_string(found[id]) + " free pages, its semaphore " +
             std::to_string(PackedSemaphore::count(word));
    }
  }
  return {};
}

}  // namespace allocbench::ouroboros::published
