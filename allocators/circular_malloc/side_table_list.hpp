// This is the list of chunks of the reworked CMalloc family. Its headers lie outside the pool. A thread that walks
// along the list loads the header of a chunk, and locks the chunk only if it is free and large enough.
//
// Base: Vinkler & Havran 2015, Algorithm 3, sections 4.2-4.4 (published form: algorithm_3.hpp).
//
// Reworked, with the benefit of each change:
// * Headers are in a side table (headers.hpp). Merging is safe, because an absorbed header keeps a valid next. The
//   table needs one header per 16 bytes of pool.
// * Flag and next are one word in all four forms, so one operation locks a chunk and returns the next one.
// * A walk loads a header before it locks, and locks only a chunk that is free and large enough. A warp's loads of one
//   header are one transaction, while its atomics would be up to 32. Walkers that cannot use a chunk do not hide it
//   from others.
// * Lanes that find the same free chunk share it. One lane locks it, and the lanes get adjacent blocks until the chunk
//   is used up (shared_chunk.hpp). If lanes did not share, each lane would pass the rest to the next lane only after
//   its own split.
// * In its first lap, a walk that lost a race or sees the offset move continues at a random chunk of the first
//   division. Lanes of a warp that walk together continue at the same chunk, which has room for all of them. The
//   largest distance grows with each repetition, up to 512 chunks. If all callers continued in order, they would follow
//   the winner to the rest of its chunk, and all but one would lose again.
// * The two changes above have a disadvantage, mostly for lone lanes. The offset soon stays behind the last chunk with
//   room for a warp, and walks then visit one chunk after the other (results/reference/h200/originals.md). A walk does
//   not skip to the first chunk with room, because CFMMalloc on an H200 would then return null although there is room.
// * A walk checks a locked chunk at the end of the pool twice if the chunk is large enough, because another thread may
//   be dividing the chunk. More checks would cost time, and the chunk may stay in use.
// * The first lap of a walk skips levels with chunks that were too small from the start (pre_split.hpp). The
//   lowest levels have most chunks of the pool. A single small request may leave the offset at these levels, and larger
//   requests would then step over most headers of the pool.
// * The first lap follows the roving offset, because other walks have passed the chunks before it and found them in use
//   or took them. The offset and the start of each heap always point to a header with a valid next. The second lap
//   skips nothing.
// * A free that merges moves the roving offset after the unlock. Otherwise the release would wait for the store to a
//   word that merging threads share. One of the lanes that merge together writes the offset.
// * Each offset has its own sector. A merge does not redirect offsets, because an offset on an absorbed chunk is a
//   valid start.
#pragma once

#include "allocators/circular_malloc/circular_list.hpp"
#include "allocators/circular_malloc/shared_chunk.hpp"

namespace allocbench::circular {

// PaddedOffset fills a sector, so that two offsets never share one.
struct alignas(32) PaddedOffset {
  std::uint32_t chunk;
};

// Laps ends a walk over the list after two laps. One lap is not enough, because a chunk that another walker holds for a
// moment looks used. Laps are counted at the end marker, because the start of the walk may have been absorbed.
class Laps {
 public:
  SIMT_FN Laps(std::uint32_t start, std::uint32_t max_steps) : start_(start), max_steps_(max_steps) {}

  // Counts a step from `chunk` to `next`. Returns false if the walk has passed all chunks twice or used up its steps.
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
  // Returns whether the walk, which is at `chunk`, has not yet returned to its start.
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
    std::uint32_t crowd = 0;  // how often this walk lost a chunk to another walk or followed the roving offset
    bool waited = false;
    for (std::uint32_t ahead = chunk;;) {
      const LockResult seen = this->layout_.header(chunk).look(thread);
      std::uint32_t next = seen.next;
      bool lost = false;
      if (seen.won && next - chunk >= need) {
        const auto party = thread.converged().match_any(chunk);
        const Share share = share_chunk(thread, party, this->layout_, chunk, need, this->max_fragmentation_);
        // A relaxed store may become visible before the header of the rest, and a walk would then start at memory
        // without a header.
        if (share.won && party.leader()) roving.store(share.rest, simt::release);
        if (share.block != no_block) return this->layout_.payload(share.block);
        next = share.rest;
        lost = !share.won;
      }
      // Another thread that divides the chunk at the end of the pool usually needs less time than a lap.
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
      ahead = roving.load(simt::relaxed);  // used one step later, so that its load overlaps with that of the header
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
    // The unlock comes first, because its release would otherwise wait for this store to a word that merging
    // threads share. One of the lanes that merge together writes the word. The store releases, because a walk that
    // starts at `next` must find its header.
    if (merged && thread.converged().leader()) thread.atomic(this->offset_of(thread)).store(next, simt::release);
  }

 private:
  // A walk that met other walks k times continues up to min(8^k, 512) chunks of the first division away.
  static constexpr std::uint32_t reach_log2 = 3;
  static constexpr std::uint32_t most_reach_log2 = 9;

  // Returns the roving offset if it is ahead of the walk, otherwise `next`. `ahead` is an earlier load of the
  // offset without acquire.
  template <class Roving>
  SIMT_FN std::uint32_t follow(const Laps& laps, const Roving& roving, std::uint32_t ahead, std::uint32_t next) const {
    if (ahead <= next || !laps.is_first_circle(ahead)) return next;
    const std::uint32_t offset = roving.load(simt::acquire);  // its header may be new
    return offset > next && laps.is_first_circle(offset) ? offset : next;
  }

  // Returns the place where the walk continues. If the walk has met no other walk, this is `next`. Otherwise it is a
  // chunk of the first division behind `next` with room for a whole warp, if the first lap still has one.
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
