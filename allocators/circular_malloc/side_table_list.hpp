// The CMalloc family, reworked: headers beside the pool, and a walk that looks before it locks.
//
// Base: Vinkler & Havran 2015, Algorithm 3, sections 4.2-4.4 (algorithm_3.hpp has them as published).
// Reworked, and what each piece brings:
//   * Headers lie in a side table (headers.hpp). Merging is safe: what was absorbed stays a header that leads on. Costs
//     one header per 16 bytes of pool.
//   * Flag and next are one word in all four forms, so one operation locks a chunk and says where the next one is.
//   * A walk loads a header before it locks, and locks only what is free and large enough. A warp's loads of one header
//     are one transaction, its atomics are 32; and no chunk is hidden from others by walkers that cannot use it.
//   * The lanes at the same free chunk take it together: one locks it, and all get neighbouring blocks of it, as far as
//     it reaches. If only one of them got a block, the others would pass on to the next chunk of the first division,
//     and a crowd would leave one block in each chunk until it comes to chunks that are too small.
//   * The first circle of a walk leaves out the levels of a heap whose chunks were too small from the start
//     (pre_split.hpp). These are most chunks of the pool: a single small request leaves the offset among them, and
//     larger ones would then step over millions of headers. The second circle leaves out none.
//   * A walk follows the roving offset: what others passed since the walk began they found in use, or took.
//   * A walk waits for the chunk at the end of the pool, as long as 32 looks: another thread that splits it needs less
//     time than a circle.
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
    std::uint32_t& roving = this->offset_of(thread);
    std::uint32_t chunk = thread.atomic(roving).load(simt::acquire);
    Laps laps(chunk, this->max_steps_);
    for (std::uint32_t waits = 0;;) {
      const LockResult seen = this->layout_.header(chunk).look(thread);
      std::uint32_t next = seen.next;
      if (seen.won && next - chunk >= need) {
        const Share share = take_together(thread, thread.converged().match_any(chunk), chunk, need, roving);
        if (share.block != no_block) return this->layout_.payload(share.block);
        next = share.next;
      }
      if (next == this->split_.granules && next - chunk >= need && waits < most_waits) {
        ++waits;
        thread.spin_hint();
        continue;
      }
      next = shortcut(thread, laps, chunk, next, need, roving);
      if (!laps.go_on(thread, chunk, next)) return nullptr;
      chunk = next;
      waits = 0;
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
    // After the release, which would otherwise wait for this store to a word that all merging threads share. Lanes that
    // merge together would race for it, so one of them writes.
    if (merged && thread.converged().leader()) thread.atomic(this->offset_of(thread)).store(next, simt::relaxed);
  }

 private:
  static constexpr std::uint32_t no_block = 0xffffffffu;
  static constexpr std::uint32_t most_waits = 32;

  struct Share {
    std::uint32_t block;
    std::uint32_t next;  // where the walk goes on without a block
  };

  // Where a walk goes on after `chunk`, whose successor is `next`. Only the first circle leaves chunks out.
  template <class Thread>
  SIMT_FN std::uint32_t shortcut(Thread& thread, const Laps& laps, std::uint32_t chunk, std::uint32_t next,
                                 std::uint32_t need, std::uint32_t& roving) const {
    if (next <= chunk || !laps.is_first_circle(next)) return next;
    if (laps.before_the_end()) {
      const std::uint32_t ahead = thread.atomic(roving).load(simt::acquire);
      if (ahead > next) next = ahead;
    }
    return this->split_.past_small_chunks(next, need);
  }

  // The lanes of the party, all at the same chunk, take blocks of it in the order of their ranks. Blocks in front are
  // linked last: until then the chunk leads on as before.
  template <class Thread, class Party>
  SIMT_FN Share take_together(Thread& thread, const Party& party, std::uint32_t chunk, std::uint32_t need,
                              std::uint32_t& roving) const {
    Header& header = this->layout_.header(chunk);
    LockResult lock{};
    if (party.leader()) lock = header.try_lock(thread);
    const bool won = party.broadcast(lock.won);
    const std::uint32_t next = party.broadcast(lock.next);
    if (!won) return {no_block, next};
    party.sync();  // what the leader acquired, all lanes have

    const std::uint64_t end = party.exclusive_sum(std::uint64_t{need}) + need;
    const bool fits = end <= next - chunk;
    const simt::LaneMask served = party.ballot(fits);  // the lowest ranks
    const std::uint32_t last = 31 - simt::count_leading_zeros(served);
    const std::uint32_t block = chunk + static_cast<std::uint32_t>(end) - need;
    std::uint32_t behind = block + need;
    if (fits && thread.lane() == last) behind = cut(thread, block, need, next);
    if (fits && !party.leader()) this->layout_.header(block).link(thread, behind);
    const std::uint32_t rest = served == 0 ? next : party.shfl_lane(behind, last);
    party.sync();  // the headers of all blocks come before the link to them
    if (party.leader()) {
      if (served == 0) {
        header.unlock(thread, next);  // another thread had shortened it
      } else {
        if (behind != next) header.link(thread, behind);
        // A relaxed store may become visible before the headers: a walk would start at memory that is no header.
        thread.atomic(roving).store(rest, simt::release);
      }
    }
    return {fits ? block : no_block, rest};
  }

  // The end of a block at the end of a locked chunk, whose successor is `next`: the rest becomes a free chunk if the
  // block would be too large with it.
  template <class Thread>
  SIMT_FN std::uint32_t cut(Thread& thread, std::uint32_t block, std::uint32_t need, std::uint32_t next) const {
    const std::uint32_t size = next - block;
    if (need == size || std::uint64_t{need} * this->max_fragmentation_ > size) return next;
    thread.probe(simt::Step::split);
    const std::uint32_t rest = block + need;
    this->layout_.header(rest).unlock(thread, next);
    return rest;
  }
};

}  // namespace allocbench::circular
