// The CMalloc family as published: every lane locks first and then looks.
//
// Paper: Vinkler & Havran 2015, Algorithm 3 (CMalloc); section 4.3 fuses flag and next (CFMalloc); section 4.4 gives
// each SM an offset and a heap (CMMalloc, CFMMalloc).
//
// Idea:
//   malloc  starts at the roving offset and tries to set the flag of chunk after chunk. It steps over a chunk in use
//           and never waits. A free chunk that is too small is unlocked again. The first large one is split if it is
//           at least `max_fragmentation` times the need, and the roving offset is left on the chunk behind it.
//   free    absorbs the following chunk if that is free, leaves the roving offset behind it, then unlocks.
// Data: headers in front of the blocks (headers.hpp), the pre-split pool, one roving offset or an array of one word per
// SM (circular_list.hpp).
//
// Differs from the paper:
//   * A walk ends with null after two full laps. As printed it never ends in a full pool.
//   * The fence and the plain stores are release stores, and what reads them acquires. The roving offset is released,
//     too: it must not become visible before the header that it points to.
//   * Blocks are aligned to 16 bytes, so offsets count granules of 16 bytes and the words reach further.
//   * Gaps filled as in the authors' library: needs are rounded up to 16 bytes, max_fragmentation is 2, the fused forms
//     lock by an atomic OR, and after a merge the multi forms redirect all offsets that point to the absorbed chunk.
//
// As printed merging is unsafe: a walker may still hold the offset of a chunk that was absorbed, and locks a word of
// user data (docs/findings.md). It may then hang, leave the pool or hand out a block twice.
//
// The `_no_merge` forms only unlock when they free, as in the build that Winter et al. 2021 measured; they are safe.
//
// Where the times differ from those of the authors' library, which was measured separately (results/reference/h200):
//   * 256 B with cfm_malloc, cfm_malloc_no_merge and cm_malloc_no_merge: 0.01 to 0.03. A launch takes one of two times,
//     by where the offsets stand (docs/findings.md); the library's 29 to 53 ms are probably the longer one (not shown).
//   * 16 B with cf_malloc_no_merge: 0.65, but 0.79 with 256 B. No reason is known.
//   * Frees of 16 B with cm_malloc_no_merge and cfm_malloc_no_merge: 1.6 and 1.5, or 2.4 and 3 us more. The two ways of
//     measuring differ by 1.7 us (bump/atomic_malloc.hpp).
#pragma once

#include "allocators/circular_malloc/circular_list.hpp"

namespace allocbench::circular {

enum class Merge { no, yes };

template <class Header, Offsets offsets_kind, Merge merge>
class Algorithm3 : public CircularList<Header, InPool, offsets_kind> {
 public:
  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (this->limit_.refuses(bytes)) return nullptr;
    const std::uint32_t need = this->granules_for(bytes);
    const auto roving = thread.atomic(this->offset_of(thread));
    std::uint32_t chunk = roving.load(simt::acquire);
    std::uint32_t next = 0;
    Laps laps(chunk, this->max_steps_);
    for (;;) {
      const LockResult found = this->layout_.header(chunk).try_lock(thread);
      next = found.next;
      if (found.won) {
        if (need <= next - chunk) break;
        this->layout_.header(chunk).unlock(thread, next);
      }
      if (!laps.go_on(thread, chunk, next)) return nullptr;
      chunk = next;
    }
    const std::uint32_t size = next - chunk;
    if (need < size && std::uint64_t{need} * this->max_fragmentation_ <= size) {
      thread.probe(simt::Step::split);
      const std::uint32_t rest = chunk + need;
      this->layout_.header(rest).create(thread, next);
      this->layout_.header(chunk).link(thread, rest);
      next = rest;
    }
    roving.store(next, simt::release);
    return this->layout_.payload(chunk);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    Header& header = this->layout_.header(this->layout_.chunk_of(block));
    std::uint32_t next = 0;
    if constexpr (merge == Merge::yes || Header::unlock_writes_next) next = header.owned_next(thread);
    if constexpr (merge == Merge::yes) {
      const std::uint32_t absorbed = next;
      if (this->layout_.header(absorbed).try_absorb(thread, next)) {
        thread.probe(simt::Step::merge);
        if constexpr (offsets_kind == Offsets::per_sm) redirect_offsets(thread, absorbed, next);
        thread.atomic(this->offset_of(thread)).store(next, simt::relaxed);
        header.lengthen(thread, next);
      }
    }
    header.unlock(thread, next);
  }

 private:
  template <class Thread>
  SIMT_FN void redirect_offsets(Thread& thread, std::uint32_t absorbed, std::uint32_t successor) const {
    for (std::uint32_t i = 0; i < this->split_.heaps; ++i) {
      const auto offset = thread.atomic(this->offsets_[i].chunk);
      if (offset.load(simt::relaxed) == absorbed) offset.store(successor, simt::relaxed);
    }
  }
};

}  // namespace allocbench::circular
