// Inspection checks the invariants of BulkAlloc on the host while no kernel runs.
//
// * Nothing is locked, expected, reserved or queued, and no reader is active.
// * Below an available or a busy node, no node is available; below a partial node, at least one is. Two halves are
//   never both available.
// * Semaphores count the available nodes of a height, the free bins of an arena, and the free slots of a size in an
//   arena.
// * Each listed bin has free slots, and each listed chunk has free bins. Their counters equal the numbers of their
//   clear bits. `whole` counts the listed chunks whose bins are all free.
#pragma once

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "allocators/bulkalloc/ualloc.hpp"

namespace allocbench::bulkalloc {

class Inspection {
 public:
  Inspection(simt::Stream& stream, const UAlloc& small)
      : stream_(stream),
        small_(small),
        nodes_(copy(stream, small.tree.nodes, std::size_t{2} << small.tree.root_height)),
        blocks_(copy(stream, small.tree.blocks, small.tree.root_height + std::size_t{1})),
        chunks_(copy(stream, small.chunks, small.arenas)),
        readers_(copy(stream, small.readers, small.arenas)),
        lists_(copy(stream, small.lists, std::size_t{small.arenas} * small.sizes)) {}

  // Returns the first broken invariant in words, or an empty text.
  std::string broken() const {
    std::string found = broken_tree();
    for (std::uint32_t arena = 0; found.empty() && arena < small_.arenas; ++arena) {
      found = broken_arena(arena);
      if (!found.empty()) found = "arena " + std::to_string(arena) + ": " + found;
    }
    return found;
  }

  // Tests read these counts.
  std::uint32_t free_blocks(std::uint32_t height) const {
    return static_cast<std::uint32_t>(Semaphore::state_of(blocks_[height].word).there);
  }
  std::uint64_t free_bins(std::uint32_t arena) const {
    return static_cast<std::uint64_t>(Semaphore::state_of(chunks_[arena].bins.word).there);
  }

 private:
  template <class T>
  static std::vector<T> copy(simt::Stream& stream, const T* device, std::size_t count) {
    std::vector<T> host(count);
    simt::copy_to_host(stream, host.data(), device, count * sizeof(T));
    return host;
  }
  // Returns a copy of the header at the start of a page.
  template <class T>
  T at(std::uint32_t page) const {
    T value;
    simt::copy_to_host(stream_, &value, small_.layout.address(page), sizeof value);
    return value;
  }
  static std::string miscounted(const Semaphore& units, std::uint64_t there) {
    const auto state = Semaphore::state_of(units.word);
    if (state.expected != 0 || state.reserved != 0) return "units are still expected or waited for";
    if (static_cast<std::uint64_t>(state.there) == there) return {};
    return "a semaphore counts " + std::to_string(state.there) + " units, there are " + std::to_string(there);
  }
  static std::uint32_t clear_bits_of(const std::uint32_t (&bits)[bitmap_words]) {
    std::uint32_t clear = 0;
    for (const std::uint32_t word : bits) clear += simt::popcount(~word);
    return clear;
  }

  std::string broken_tree() const {
    std::vector<std::uint64_t> free(blocks_.size());
    std::vector<bool> has_room(nodes_.size());
    for (std::size_t node = nodes_.size() - 1; node != 0; --node) {
      const std::uint32_t state = nodes_[node];
      const std::string name = "node " + std::to_string(node);
      const bool leaf = 2 * node >= nodes_.size();
      const bool below = !leaf && (has_room[2 * node] || has_room[2 * node + 1]);
      if (state > BuddyTree::partial) return name + " is locked, or both available and partial";
      if (state == BuddyTree::available && below) return name + " is available, as is something below";
      if ((state == BuddyTree::partial) != below) return name + (below ? " is busy" : " is partial") + " wrongly";
      if (!leaf && (nodes_[2 * node] & nodes_[2 * node + 1] & BuddyTree::available) != 0) {
        return name + " has two available halves";
      }
      has_room[node] = state != 0;
      if (state == BuddyTree::available) ++free[small_.tree.root_height + 1 - std::bit_width(node)];
    }
    for (std::size_t height = 0; height < free.size(); ++height) {
      const std::string found = miscounted(blocks_[height], free[height]);
      if (!found.empty()) return "height " + std::to_string(height) + ": " + found;
    }
    return {};
  }

  std::string broken_arena(std::uint32_t arena) const {
    const Rcu& readers = readers_[arena];
    if (readers.mutex != 0 || readers.waiting != 0 || readers.queue != 0) return "work waits for readers";
    if (readers.left[readers.readers >> 63] != (readers.readers & ~Rcu::odd)) return "a reader has not left";
    if (chunks_[arena].lock != 0) return "the chunks are locked";
    std::uint64_t bins = 0;
    std::uint32_t whole = 0;
    for (std::uint32_t link = chunks_[arena].first, previous = 0; link != 0;) {
      const Chunk chunk = at<Chunk>(link - 1);
      if (chunk.previous != previous) return "the list of chunks is broken";
      if (chunk.free == 0 || clear_bits_of(chunk.bits) != chunk.free) return "a chunk's count and bits differ";
      bins += chunk.free;
      whole += chunk.free == small_.layout.bins() ? 1 : 0;
      previous = std::exchange(link, chunk.next);
    }
    if (whole != chunks_[arena].whole) return "the count of whole chunks is wrong";
    std::string found = miscounted(chunks_[arena].bins, bins);
    for (std::uint32_t size = 0; found.empty() && size < small_.sizes; ++size) {
      found = broken_list(arena * small_.sizes + size);
    }
    return found;
  }

  std::string broken_list(std::uint32_t number) const {
    if (lists_[number].lock != 0) return "a list of bins is locked";
    std::uint64_t slots = 0;
    for (std::uint32_t link = lists_[number].first, previous = 0; link != 0;) {
      const Bin bin = at<Bin>(link - 1);
      if (bin.list != number || bin.place != static_cast<std::uint32_t>(Place::listed) || bin.previous != previous) {
        return "the list of bins is broken";
      }
      if (bin.free == 0 || clear_bits_of(bin.bits) != bin.free) return "a bin's count and bits differ";
      slots += bin.free;
      previous = std::exchange(link, bin.next);
    }
    return miscounted(lists_[number].slots, slots);
  }

  simt::Stream& stream_;
  const UAlloc& small_;
  std::vector<std::uint32_t> nodes_;
  std::vector<Semaphore> blocks_;
  std::vector<ChunkList::State> chunks_;
  std::vector<Rcu> readers_;
  std::vector<BinList::State> lists_;
};

}  // namespace allocbench::bulkalloc
