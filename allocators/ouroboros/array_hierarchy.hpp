// ArrayHierarchy (variant VA of Ouroboros) maps each segment of a queue to its chunk, with one ring per class.
//
// A ring has D entries. Entry s mod D is a word of two halves: the number of segment s, and its chunk or none. The
// thread that adds the chunk of segment s waits until the entry is "s, none" and writes the chunk. The thread that
// empties the last slot of the segment writes "s + D, none". Readers wait until the entry has their own s and a chunk,
// so they never take the chunk of another round. (A reader of the published code traps if it finds such a chunk.) D is
// at least twice the number of segments of a queue. So a thread that adds a segment waits only if another thread is
// delayed for so long that more than D / 2 segments are added meanwhile.
#pragma once

#include "allocators/ouroboros/segmented_queue.hpp"

namespace allocbench::ouroboros {

struct ArrayHierarchy {
  // All bytes are zero at first.
  struct ClassState {
    alignas(128) std::uint32_t appended;  // number of segments added so far; its lower bits are the next segment number
  };

  std::uint64_t* entries = nullptr;
  RingLayout layout;  // the same size for all classes

  static SIMT_HOST_FN std::uint64_t entry(std::uint32_t segment, std::uint32_t chunk) {
    return std::uint64_t{segment} << 32 | chunk;
  }

  SIMT_FN std::uint64_t most_segments() const { return (1u << layout.log) / 2; }

  template <QueueEnd end, class Thread>
  SIMT_FN std::uint32_t locate(Thread& thread, ClassState&, std::uint32_t id, std::uint32_t number,
                               std::uint32_t slots_log) const {
    const std::uint32_t segment = number >> slots_log;
    const auto place = thread.atomic(entry_of(id, segment));
    for (;;) {
      const std::uint64_t found = place.load(simt::acquire);
      const auto chunk = static_cast<std::uint32_t>(found);
      if (found >> 32 == segment && chunk != no_chunk) return chunk;
      thread.probe(simt::Step::retry);
      thread.spin_hint();
    }
  }

  template <class Thread>
  SIMT_FN void append(Thread& thread, ClassState& state, std::uint32_t id, std::uint32_t chunk,
                      std::uint32_t slots_log) const {
    const std::uint32_t last = 0xffffffffu >> slots_log;  // positions in the queue have 32 bits
    const std::uint32_t segment = thread.atomic(state.appended).fetch_add(1u, simt::relaxed) & last;
    const auto place = thread.atomic(entry_of(id, segment));
    while (place.load(simt::acquire) != entry(segment, no_chunk)) thread.spin_hint();
    place.store(entry(segment, chunk), simt::release);
  }

  // Reuses `chunk`, the chunk of `segment`. All slots of this segment must be empty. Frees the segment's entry for the
  // next round and appends the chunk as a new segment.
  template <class Thread>
  SIMT_FN void recycle(Thread& thread, ClassState& state, std::uint32_t id, std::uint32_t segment, std::uint32_t chunk,
                       std::uint32_t slots_log) const {
    const std::uint32_t next_round = (segment + (1u << layout.log)) & (0xffffffffu >> slots_log);
    thread.atomic(entry_of(id, segment)).store(entry(next_round, no_chunk), simt::release);
    append(thread, state, id, chunk, slots_log);
  }

  // Writes the entries that add_first() does not write. All `threads` threads of a grid must call this function, each
  // with its number `me`.
  template <class Thread>
  SIMT_FN void initialise(Thread& thread, std::uint32_t me, std::uint32_t threads, std::uint32_t class_count) const {
    const std::uint32_t mask = (1u << layout.log) - 1;
    for (std::uint64_t i = me; i < layout.begin(class_count); i += threads) {
      const std::uint32_t segment = static_cast<std::uint32_t>(i) & mask;
      // The first entry of a class belongs to the class's first segment. add_first() writes this entry.
      if (segment != 0) thread.atomic(entries[i]).store(entry(segment, no_chunk), simt::relaxed);
    }
  }

  template <class Thread>
  SIMT_FN void add_first(Thread& thread, ClassState& state, std::uint32_t id, std::uint32_t chunk) const {
    thread.atomic(state.appended).store(1, simt::relaxed);
    thread.atomic(entry_of(id, 0)).store(entry(0, chunk), simt::relaxed);
  }

 private:
  SIMT_FN std::uint64_t& entry_of(std::uint32_t id, std::uint32_t segment) const {
    return entries[layout.begin(id) + (segment & ((1u << layout.log) - 1))];
  }
};

}  // namespace allocbench::ouroboros
