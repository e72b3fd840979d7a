// The CMalloc family, reworked: headers beside the pool, and a walk that looks before it locks.
//
// Base: Vinkler & Havran 2015, Algorithm 3, sections 4.2-4.4 (algorithm_3.hpp has them as published).
// Reworked, and what each piece brings:
//   * Headers lie in a side table (headers.hpp). Merging is safe: an absorbed header keeps a valid next. Costs
//     one header per 16 bytes of pool.
//   * Flag and next are one word in all four forms, so one operation locks a chunk and says where the next one is.
//   * A walk loads a header before it locks, and locks only what is free and large enough. A warp's loads of one header
//     are one transaction, its atomics are 32; and no chunk is hidden from others by walkers that cannot use it.
//   * The lanes at the same free chunk take it together: one locks it, and all get neighbouring blocks of it, as far as
//     it reaches (shared_chunk.hpp). A lane alone would hand the chunk on to the next lane only after its split.
//   * A walk that lost a race, or sees the offset move, continues at a chunk of the first division that its warp draws.
//     The more often this happens, the further away it is. Else all callers follow the winner to the rest of its chunk,
//     and all but one lose again. Both pieces have a price for lone lanes of 1 KiB and more: the offset soon stays
//     behind the last chunk with room for a warp. A walk does not skip to the first chunk with room, because CFMMalloc
//     then returns null on an H200 although the pool has room.
//   * A walk looks twice at a locked chunk at the end of the pool that would be large enough: another thread may be
//     dividing it. Further looks cost time: the chunk may stay in use for long.
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
#include "allocators/circular_malloc/shared_chunk.hpp"

namespace allocbench::circular {

// Padded to a sector so that SMs do not fight over one line.
struct alignas(32) PaddedOffset {
  std::uint32_t chunk;
};

// Ends a walk over the list after two laps. One lap is not enough, because a chunk that another walker holds for a
// moment looks used. Laps are counted at the end marker, because the start of the walk may have been absorbed.
class Laps {
 public:
  SIMT_FN Laps(std::uint32_t start, std::uint32_t max_steps) : start_(start), max_steps_(max_steps) {}

  // The walk goes from `chunk` to `next`, unless it has seen everything twice or used its steps.
  template <class Thread>
  SIMT_FN bool go_on(Thread& thread, std::uint32_t chunk, std::uint32_t next) {
    thread.probe(simt::Step::walk);
    if (next <= chunk) {
      thread.probe(simt::Step::wrap);
      ++laps_;
    }
    if (laps_ >= 2 && next >= start_) return false;
    return max_steps_ == 0 || ++steps_ < max_steps_;
  }
  // At `chunk` the walk is not back yet where it began.
  SIMT_FN bool is_first_circle(std::uint32_t chunk) const { return laps_ == 0 || (laps_ == 1 && chunk < start_); }

 private:
  std::uint32_t start_;
  std::uint32_t max_steps_;
  std::uint32_t laps_ = 0;
  std::uint32_t steps_ = 0;
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
    Laps laps(chunk, this->max_steps_);
    std::uint32_t crowd = 0;  // how often others were seen to take chunks where this walk is
    bool waited = false;
    for (std::uint32_t ahead = chunk;;) {
      const LockResult seen = this->layout_.header(chunk).look(thread);
      std::uint32_t next = seen.next;
      bool lost = false;
      if (seen.won && next - chunk >= need) {
        const auto party = thread.converged().match_any(chunk);
        const Share share = share_chunk(thread, party, this->layout_, chunk, need, this->max_fragmentation_);
        // A relaxed store may become visible before the header of the rest: a walk would start at memory without one.
        if (share.won && party.leader()) roving.store(share.rest, simt::release);
        if (share.block != no_block) return this->layout_.payload(share.block);
        next = share.rest;
        lost = !share.won;
      }
      // Another thread that divides the chunk at the end of the pool needs less time than a circle.
      if (next == this->split_.granules && next - chunk >= need && !waited) {
        waited = true;
        thread.spin_hint();
        continue;
      }
      if (next > chunk && laps.is_first_circle(next)) {
        const std::uint32_t followed = follow(laps, roving, ahead, next);
        crowd += lost || followed != next;
        next = this->split_.past_small_chunks(aside(thread, laps, followed, need, crowd), need);
      }
      if (!laps.go_on(thread, chunk, next)) return nullptr;
      chunk = next;
      waited = false;
      ahead = roving.load(simt::relaxed);  // used a step later, so that it is read beside the header
    }
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
    // After the header is released, which would otherwise wait for this store to a word that all merging threads share.
    // One lane of those that merge together writes. A walk that starts at `next` must find its header: release.
    if (merged && thread.converged().leader()) thread.atomic(this->offset_of(thread)).store(next, simt::release);
  }

 private:
  // A walk that met others k times goes on up to 8^k chunks of the first division away, at most 512.
  static constexpr std::uint32_t reach_log2 = 3;
  static constexpr std::uint32_t most_reach_log2 = 9;

  // The roving offset, if that lies before the walk; else `next`. `ahead`: the offset, read without acquire.
  template <class Roving>
  SIMT_FN std::uint32_t follow(const Laps& laps, const Roving& roving, std::uint32_t ahead, std::uint32_t next) const {
    if (ahead <= next || !laps.is_first_circle(ahead)) return next;
    const std::uint32_t offset = roving.load(simt::acquire);  // its header may be new
    return offset > next && laps.is_first_circle(offset) ? offset : next;
  }

  // Where a walk among many others continues, instead of at `next`: in a chunk with room for a whole warp.
  template <class Thread>
  SIMT_FN std::uint32_t aside(Thread& thread, const Laps& laps, std::uint32_t next, std::uint32_t need,
                              std::uint32_t crowd) const {
    if (crowd == 0 || need > this->split_.root / simt::warp_size) return next;
    const std::uint32_t reach_bits = crowd * reach_log2 < most_reach_log2 ? crowd * reach_log2 : most_reach_log2;
    const std::uint32_t warp = thread.rank_in_grid() / simt::warp_size;
    const std::uint32_t drawn = (warp + crowd * 0x85ebca6bu) * 0x9e3779b1u;
    const std::uint32_t other = this->split_.further_on(next, drawn, 1u << reach_bits, need * simt::warp_size);
    return laps.is_first_circle(other) ? other : next;
  }
};

}  // namespace allocbench::circular
