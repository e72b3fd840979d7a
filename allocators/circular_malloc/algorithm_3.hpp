// Algorithm3 is the published malloc and free of the CMalloc family. Each lane first locks a chunk and then checks its
// size.
//
// Paper: Vinkler & Havran 2015, Algorithm 3 (CMalloc). Section 4.3 fuses flag and next (CFMalloc). Section 4.4 gives
// each SM an offset and a heap (CMMalloc, CFMMalloc).
//
// Idea:
// * malloc: A walk starts at the roving offset and tries to set the flag of one chunk after the other. It steps over a
//   chunk in use and never waits. It unlocks a free chunk that is too small. It takes the first free chunk that is
//   large enough, and splits it if it has at least `max_fragmentation` times the need. Then it sets the roving offset
//   to the next chunk.
// * free: If the following chunk is free, the caller absorbs it and moves the roving offset behind the merged chunk. In
//   either case, the caller then unlocks its chunk.
//
// Data: headers in front of the blocks (headers.hpp), the pre-split pool, and one roving offset or one per SM
// (circular_list.hpp).
//
// Differs from the paper:
// * A walk returns null after `max_steps` steps. In the paper (section 4.2, Algorithm 3), a walk that finds no chunk
//   never ends. The authors' library stops after 1,000,000 steps in its tests. A bound in laps would be wrong. A walker
//   that read the header of an absorbed chunk follows user data and may pass the end marker at each step. Among many
//   walkers, a large enough chunk may look used in each lap. By default, a walk has four times as many steps as the
//   fresh pool has chunks, but at least 1,000,000. With one heap, these are 4.2 million steps in a pool of 256 MiB, and
//   34 million in one of 2 GiB. In a full pool, each caller makes all these steps before it gets null. A test that
//   needs null soon sets `max_steps`.
// * Release stores of headers replace the fence and the plain stores, and walks load headers with acquire. A malloc
//   also releases the roving offset, because the offset must not become visible before the header to which it points.
// * Blocks are aligned to 16 bytes, so offsets count granules of 16 bytes and reach 16 times as far as byte offsets.
// * Where the paper gives no detail, this code follows the authors' library. Needs are rounded up to 16 bytes, and
//   max_fragmentation is 2. The fused forms lock by an atomic OR. After a merge, the multi forms redirect all offsets
//   that point to the absorbed chunk.
//
// Merging as in the paper is unsafe: a walker may still hold the offset of an absorbed chunk and lock a word of user
// data (docs/findings.md). The walker may then hang, leave the pool or hand out a block twice.
//
// The `_no_merge` forms only unlock when they free, as in the build that Winter et al. 2021 measured. They are safe.
//
// Some times differ from those of the authors' library, which is measured separately (results/reference/h200):
// * 256 B with cfm_malloc, cfm_malloc_no_merge and cm_malloc_no_merge: A launch takes longer if a request walks over
//   small chunks, and the roving offsets decide whether this happens (docs/findings.md). The library's launches
//   probably take longer for this reason, but no measurement shows this.
// * 16 B with cf_malloc_no_merge: We do not know why the times differ.
// * Frees of 16 B with cm_malloc_no_merge and cfm_malloc_no_merge: The main reason is the different way of measuring
//   (bump/atomic_malloc.hpp).
#pragma once

#include "allocators/circular_malloc/circular_list.hpp"

namespace allocbench::circular {

enum class Merge { no, yes };

template <class Header, Offsets offsets_kind, Merge merge>
class Algorithm3 : public CircularList<Header, InPool, offsets_kind> {
  using List = CircularList<Header, InPool, offsets_kind>;

 public:
  // A walk in this heap has enough steps for four laps over chunks of the smallest size.
  static SmallHeap<CircularParameters> small_heap() {
    auto heap = List::small_heap();
    heap.parameters.max_steps = static_cast<std::uint32_t>(4 * heap.pool_bytes / granule_bytes);
    return heap;
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (this->limit_.refuses(bytes)) return nullptr;
    const std::uint32_t need = this->granules_for(bytes);
    const auto roving = thread.atomic(this->offset_of(thread));
    std::uint32_t chunk = roving.load(simt::acquire);
    std::uint32_t next = 0;
    for (std::uint32_t steps_left = this->max_steps_;;) {
      const LockResult found = this->layout_.header(chunk).try_lock(thread);
      next = found.next;
      if (found.won) {
        if (need <= next - chunk) break;
        this->layout_.header(chunk).unlock(thread, next);
      }
      thread.probe(simt::Step::walk);
      if (next <= chunk) thread.probe(simt::Step::wrap);
      if (--steps_left == 0) return nullptr;
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

 protected:
  template <class Form>
  static Form lay_out(Arena& arena, const CircularParameters& parameters) {
    Form form = List::template lay_out<Form>(arena, parameters);
    Algorithm3& list = form;
    if (list.max_steps_ == 0) list.max_steps_ = std::max(authors_max_steps, 4 * list.split_.headers());
    return form;
  }

 private:
  static constexpr std::uint32_t authors_max_steps = 1'000'000;

  template <class Thread>
  SIMT_FN void redirect_offsets(Thread& thread, std::uint32_t absorbed, std::uint32_t successor) const {
    for (std::uint32_t i = 0; i < this->split_.heaps; ++i) {
      const auto offset = thread.atomic(this->offsets_[i].chunk);
      if (offset.load(simt::relaxed) == absorbed) offset.store(successor, simt::relaxed);
    }
  }
};

}  // namespace allocbench::circular
