// The CMalloc family, reworked: headers beside the pool, and a walk that looks before it locks.
//
// Base: Vinkler & Havran 2015, Algorithm 3, sections 4.2-4.4 (algorithm_3.hpp has them as published).
// Reworked, and what each piece brings:
//   * Headers lie in a side table (headers.hpp). Merging is safe: an absorbed header keeps a valid next. Costs
//     one header per 16 bytes of pool.
//   * Flag and next are one word in all four forms, so one operation locks a chunk and says where the next one is.
//   * A walk loads a header before it locks, and locks only what is free and large enough. A warp's loads of one header
//     are one transaction, its atomics are 32; and no chunk is hidden from others by walkers that cannot use it.
//   * Of the lanes at the same free chunk only one tries to lock it; the others go on as if they had lost the race.
//   * The first circle of a walk leaves out the levels of a heap whose chunks were too small from the start
//     (pre_split.hpp). Most chunks of the pool are in them: a single small request leaves the offset there, and larger
//     ones would then step over millions of headers.
//   * The first circle follows the roving offset: others have passed what lies before it, and found it in use or took
//     it. The offset and the start of each heap always point to a header with a valid next. The second circle leaves
//     out nothing.
//   * A free moves the roving offset after it has unlocked: otherwise the release would wait for the store to a word
//     that all merging threads share. One lane of those that merge together writes it.
//   * Offsets lie a sector apart, and a merge redirects none: an offset on an absorbed chunk is a valid start.
#pragma once

#include "allocators/circular_malloc/circular_list.hpp"

namespace allocbench::circular {

// Padded to a sector so that SMs do not fight over one line.
struct alignas(32) PaddedOffset {
  std::uint32_t chunk;
};

template <class Header, Offsets offsets_kind>
class SideTableList : public CircularList<Header, SideTable, offsets_kind, PaddedOffset> {
 public:
  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (this->limit_.refuses(bytes)) return nullptr;
    const std::uint32_t need = this->granules_for(bytes);
    const auto roving = thread.atomic(this->offset_of(thread));
    std::uint32_t chunk = roving.load(simt::acquire);
    std::uint32_t next = 0;
    if (!lock_chunk(thread, need, roving, chunk, next)) return nullptr;
    const std::uint32_t size = next - chunk;
    if (need < size && std::uint64_t{need} * this->max_fragmentation_ <= size) {
      thread.probe(simt::Step::split);
      const std::uint32_t rest = chunk + need;
      this->layout_.header(rest).unlock(thread, next);
      this->layout_.header(chunk).link(thread, rest);
      next = rest;
    }
    // A relaxed store may become visible before the header of the rest: a walk would start at memory without a header.
    roving.store(next, simt::release);
    return this->layout_.payload(chunk);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t chunk = this->layout_.chunk_of(block);
    Header& header = this->layout_.header(chunk);
    std::uint32_t next = header.owned_next(thread);
    bool merged = false;
    const LockResult neighbour = this->layout_.header(next).try_lock(thread);
    if (neighbour.won) {
      thread.probe(simt::Step::merge);
      next = neighbour.next;
      merged = true;
    }
    header.unlock(thread, next);
    // After the release, which would otherwise wait for this store to a word that all merging threads share. Lanes that
    // merge together would race for it, so one of them writes.
    if (merged && thread.converged().leader()) thread.atomic(this->offset_of(thread)).store(next, simt::relaxed);
  }

 private:
  // Walks from `chunk` to the first free chunk of at least `need` granules, and locks it. `next` is its successor.
  // False after two circles without one.
  template <class Thread, class Roving>
  SIMT_FN bool lock_chunk(Thread& thread, std::uint32_t need, const Roving& roving, std::uint32_t& chunk,
                          std::uint32_t& next) const {
    Laps laps(chunk, this->max_steps_);
    for (std::uint32_t ahead = chunk;;) {
      Header& header = this->layout_.header(chunk);
      LockResult result = header.look(thread);
      if (result.won && result.next - chunk >= need) {
        // One of the lanes at this chunk tries; the others could only lose against it.
        const bool first = thread.converged().match_any(chunk).leader();
        result = first ? header.try_lock(thread) : LockResult{false, result.next};
        if (result.won) {
          next = result.next;
          if (next - chunk >= need) return true;
          header.unlock(thread, next);
        }
      }
      const bool leaps = result.next > chunk && laps.is_first_circle(result.next);
      const std::uint32_t onward = leaps ? leap(laps, roving, ahead, result.next, need) : result.next;
      if (!laps.go_on(thread, chunk, onward)) return false;
      chunk = onward;
      ahead = roving.load(simt::relaxed);  // used a step later, so that it is read beside the header
    }
  }

  // Where the first circle continues, instead of at `onward`. `ahead`: the roving offset, read without acquire.
  template <class Roving>
  SIMT_FN std::uint32_t leap(const Laps& laps, const Roving& roving, std::uint32_t ahead, std::uint32_t onward,
                             std::uint32_t need) const {
    if (ahead > onward && laps.is_first_circle(ahead)) {
      const std::uint32_t offset = roving.load(simt::acquire);  // its header may be new
      if (offset > onward && laps.is_first_circle(offset)) onward = offset;
    }
    return this->split_.past_small_chunks(onward, need);
  }
};

}  // namespace allocbench::circular
