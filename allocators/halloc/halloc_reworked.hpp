// The reworked Halloc is a bitmap heap of slabs, with a hash that usually finds a free block in one or two tries.
//
// Paper: Adinetz & Pleiter, Halloc: Fast malloc()/free() for GPUs, GTC 2014 (slides). Idea and published form:
// halloc.hpp.
//
// Data: sizes and hash (size_classes.hpp), slabs and their protocol (slab.hpp), slab sets (slab_set.hpp), heads and
// their replacement (heads.hpp). device_heap_share.hpp serves large requests.
//
// Reworked, with the benefit of each change:
// * Marks beside the bits of a block give its length, so a second array of 4-bit sizes is not needed. This saves one
//   atomic operation per malloc (for one-chunk blocks) and per free.
// * A malloc adds to the slab's count while it tries the first bit, and threads that fail subtract again. This saves
//   one trip to memory if heads have room.
// * Count, size and an era of a slab are one 64-bit word. So slabs need no locks, and a slab that becomes a head again
//   is not taken for the old head.
// * Sets record whether they have members and where one was last found, so a search does not scan empty sets. The old
//   head is detached after the unlock, and waiting threads mostly read the head, not the lock. This matters for blocks
//   of 256 bytes and more, because the replacement of heads limits their rate.
// * Every slab that stops being a head goes into the set of its class. Waiting threads give up after a failed search
//   instead of searching one after the other. A search that finds no slab releases idle heads of other sizes before it
//   fails. Before a malloc returns null, it visits its old head once more, beyond the busy threshold. So malloc returns
//   null less often when memory is scarce.
// * There is no slab grid, and slab numbers have 32 bits, so pools beyond 32 GiB work. A table keeps the blocks of the
//   device heap, so reset() needs no new process.
// * As in all our forms, requests of 17 to 24 bytes get 32 bytes, because 24-byte blocks would be aligned only to 8
//   bytes.
//
// The malloc kernel has 56 registers on sm_90. That of the published form has 44, and that of the public code 38. So
// fewer warps are resident. There are two reasons. The search for a head is inlined, because a call costs more time
// than it saves. States and heads are 64-bit words.
#pragma once

#include <algorithm>

#include "allocators/halloc/halloc_base.hpp"
#include "allocators/halloc/heads.hpp"
#include "allocators/halloc/slab_check.hpp"
#include "allocators/support/common/device_heap_share.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

// Makes all slabs free, and gives all sizes their first counters and no heads. All words must already be zero.
struct ResetHalloc {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, halloc::Heads heads) const {
    const halloc::Slabs& slabs = heads.slabs;
    const std::uint32_t me = thread.rank_in_grid();
    const halloc::SlabSet free = slabs.free_set();
    for (std::uint32_t i = me; i < free.bit_words; i += thread.grid_size()) {
      const std::uint32_t left = slabs.count - i * 32;
      thread.atomic(free.words[halloc::SlabSet::header_words + i])
          .store(left >= 32 ? 0xffffffffu : (1u << left) - 1, simt::relaxed);
    }
    if (me == 0) thread.atomic(free.words[0]).store(slabs.count, simt::relaxed);
    if (me < halloc::size_count) {
      thread.atomic(heads.sizes[me].counter).store(halloc::first_counter, simt::relaxed);
      thread.atomic(heads.sizes[me].head).store(halloc::Head::none, simt::relaxed);
      thread.atomic(heads.sizes[me].next_head).store(halloc::Head::none, simt::relaxed);
    }
  }
};

class HallocReworked : public halloc::HallocBase {
 public:
  static constexpr Traits traits{.name = "halloc_reworked",
                                 .display_name = "Halloc, reworked",
                                 .paper = "Adinetz & Pleiter 2014",
                                 .summary =
                                     "slabs with a bit per chunk, blocks found by hashing a counter, up to 3 KiB; "
                                     "larger requests go to the device heap",
                                 .form = Form::reworked,
                                 .pool = PoolLocation::arena_and_device_heap};

  static SmallHeap<Parameters> small_heap() {
    auto heap = three_slabs(Parameters{}.busy);
    heap.serves_new = 93;
    return heap;
  }
  static SmallHeap<Parameters> second_small_heap() {
    auto heap = slabs_and_device_heap(Parameters{}.busy);
    heap.serves_new = 180;
    return heap;
  }
  // The sets of this heap have two words of bits.
  static SmallHeap<Parameters> heap_of_many_units() {
    auto heap = three_slabs(Parameters{}.busy);
    heap.pool_bytes = 64 * heap.parameters.slab_bytes;
    heap.serves_new = 1924;
    return heap;
  }

  static HallocReworked create(Arena& arena, const Parameters& parameters);

  void reset(simt::Stream& stream) {
    const halloc::Slabs& slabs = heads_.slabs;
    simt::device_fill(stream, slabs.states, 0, slabs.count * sizeof *slabs.states);
    simt::device_fill(stream, slabs.bits, 0, slabs.bit_word(slabs.count, 0) * sizeof *slabs.bits);
    simt::device_fill(stream, slabs.set_words, 0, set_words() * sizeof *slabs.set_words);
    simt::device_fill(stream, heads_.sizes, 0, halloc::size_count * sizeof *heads_.sizes);
    large_blocks_.reset(stream);
    const std::uint32_t blocks = std::clamp(slabs.count / (32 * 32), 1u, 1024u);
    simt::launch(stream, {blocks, 32}, ResetHalloc{}, heads_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes > largest_in_slabs_) return large_blocks_.malloc(thread, bytes);
    const std::uint32_t id = halloc::size_id(static_cast<std::uint32_t>(bytes));
    const auto group = thread.converged().match_any(id);
    halloc::SizeState& size = heads_.sizes[id];
    std::uint32_t counter = 0;
    std::uint64_t head = 0;
    if (group.leader()) {
      counter = thread.atomic(size.counter).fetch_add(group.num_threads(), simt::relaxed);
      head = thread.atomic(size.head).load(simt::acquire);
    }
    counter = group.broadcast(counter) + group.thread_rank();
    head = group.broadcast(head);
    group.sync();  // the leader's acquire covers all lanes
    return visit_heads(thread, group, id, head, heads_.slabs.classes.first_probe(id, counter));
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const halloc::Slabs& slabs = heads_.slabs;
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - slabs.base);
    const std::size_t slab_index = offset >> slabs.shift;  // the index is huge for addresses below the pool
    if (slab_index >= slabs.count) {
      large_blocks_.free(thread, block);
      return;
    }
    const auto slab = static_cast<std::uint32_t>(slab_index);
    const std::uint32_t kind =
        thread.atomic(slabs.kinds[slab]).load(simt::relaxed);  // the kind does not change while a block is in use
    const std::uint32_t chunk =
        halloc::chunk_of_offset(kind, static_cast<std::uint32_t>(offset) & ((1u << slabs.shift) - 1));
    const std::uint32_t length = slabs.clear_block(thread, slab, chunk);
    const auto group = thread.converged().match_any(slab);
    const std::uint32_t chunks = group.reduce_add(length);
    group.sync();  // the leader's release covers all lanes
    if (group.leader()) slabs.subtract(thread, slab, chunks);
  }

  std::string broken_invariant(simt::Stream& stream) const { return halloc::broken_slab(heads_, stream); }

  const halloc::Heads& heads() const { return heads_; }

 private:
  static constexpr std::uint32_t probes_per_visit = 32;

  std::size_t set_words() const {
    return std::size_t{halloc::Slabs::set_count} * halloc::SlabSet::words_for(heads_.slabs.count);
  }

  // Visits one head after the other until every lane of the group has a block or gives up. The lanes request blocks of
  // the same size. Each lane starts at its own `first`, which is h(c, 0) of size_classes.hpp.
  template <class Thread, class Group>
  SIMT_FN void* visit_heads(Thread& thread, Group group, std::uint32_t id, std::uint64_t head, std::uint32_t first) {
    Probes probes{first, first, 0};
    bool last_visit = false;
    // Every lost visit means that other lanes filled a slab. The bound ends the search of a lane that always loses.
    for (std::uint32_t visits_left = 64 + 2 * heads_.slabs.count; visits_left != 0; --visits_left) {
      if (halloc::Head::exists(head)) {
        void* const block = visit(thread, group, id, head, last_visit, probes);
        if (block != nullptr || last_visit) return block;
      }
      const std::uint64_t old_head = head;
      // A busy slab allows one try per visit, and two busy slabs could use up all visits in turn. So the last visits
      // prefer idle slabs of other sizes to busy slabs.
      const bool spares_busy = visits_left <= 8;
      if (group.leader()) head = heads_.replacement(thread, id, old_head, spares_busy);
      head = group.broadcast(head);
      group.sync();  // the leader's acquire covers all lanes
      if (!halloc::Head::exists(head)) {
        if (!halloc::Head::exists(old_head)) return nullptr;
        last_visit = true;
        head = old_head;
      }
    }
    return nullptr;
  }

  // Probes is a lane's place in its series of chunks.
  struct Probes {
    std::uint32_t first;
    std::uint32_t chunk;
    std::uint32_t number;
  };

  // Tries to get a block of the head for every lane of the group. Returns null to lanes that get none; these lanes form
  // the group afterwards.
  template <class Thread, class Group>
  SIMT_FN void* visit(Thread& thread, Group& group, std::uint32_t id, std::uint64_t head, bool last_visit,
                      Probes& probes) {
    const halloc::Slabs& slabs = heads_.slabs;
    const std::uint32_t log = halloc::block_log(id);
    const std::uint32_t busy = slabs.classes.thresholds(halloc::kind_of(id)).busy;
    const std::uint32_t slab = halloc::Head::slab(head);
    // The reservation and the first try need not wait for each other.
    std::uint64_t before = 0;
    if (group.leader()) before = slabs.reserve(thread, slab, group.num_threads() << log);
    bool won = slabs.set_bits(thread, slab, probes.chunk, log);
    before = group.broadcast(before);
    const bool valid = halloc::Slabs::allows(before, head);
    const std::uint32_t used = halloc::SlabState::count(before);
    const bool crossed = valid && used < busy && used + (group.num_threads() << log) >= busy;
    if (won && !valid) {
      slabs.withdraw_bits(thread, slab, probes.chunk, log);
      won = false;
    }
    const bool replaces = crossed && group.leader();
    auto rest = group.partition(won);
    if (won) slabs.mark_length(thread, slab, probes.chunk, log);
    if (replaces) heads_.replace_early(thread, id, head);
    if (won) return slabs.address(slab, halloc::kind_of(id), probes.chunk);

    bool goes_on = valid && (used < busy || last_visit);
    for (std::uint32_t i = 1; goes_on && i < probes_per_visit; ++i) {
      thread.probe(simt::Step::retry);
      advance(id, probes);
      won = slabs.set_bits(thread, slab, probes.chunk, log);
      const auto alike = rest.partition(won);
      if (won) {
        slabs.mark_length(thread, slab, probes.chunk, log);
        return slabs.address(slab, halloc::kind_of(id), probes.chunk);
      }
      rest = alike;
      if (i % 2 == 0 && !last_visit) goes_on = used_by_others(thread, rest, slab, log) < busy;
    }
    if (rest.leader()) slabs.subtract(thread, slab, rest.num_threads() << log);
    group = rest;
    advance(id, probes);
    return nullptr;
  }

  // Returns how many chunks of the slab are in use, without those that the group has reserved.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t used_by_others(Thread& thread, const Group& group, std::uint32_t slab,
                                       std::uint32_t log) const {
    std::uint64_t now = 0;
    if (group.leader()) now = thread.atomic(heads_.slabs.states[slab]).load(simt::relaxed);
    return halloc::SlabState::count(group.broadcast(now)) - (group.num_threads() << log);
  }

  SIMT_FN void advance(std::uint32_t id, Probes& probes) const {
    ++probes.number;
    probes.chunk = heads_.slabs.classes.next_probe(id, probes.first, probes.number, steps_[id]);
  }

  halloc::Heads heads_;
  const std::uint32_t* steps_ = nullptr;  // steps of the hash per size; never written on the device
  std::uint32_t largest_in_slabs_ = 0;
  DeviceHeapShare large_blocks_;
};

inline HallocReworked HallocReworked::create(Arena& arena, const Parameters& parameters) {
  const std::size_t bytes = halloc::slab_pool_bytes(arena.pool_bytes(), parameters);
  if (bytes == 0) {
    throw Unsupported(std::string(traits.name) + " needs a pool whose slab_share holds at least one slab of " +
                      std::to_string(parameters.slab_bytes) + " bytes");
  }
  if (bytes / parameters.slab_bytes > 0x7fffffffu) {
    throw Unsupported(std::string(traits.name) + " serves at most 2^31 slabs: raise slab_bytes");
  }
  HallocReworked allocator;
  halloc::Slabs& slabs = allocator.heads_.slabs;
  slabs.classes =
      halloc::SizeClasses::of_slab(parameters.slab_bytes, parameters.busy, parameters.roomy, parameters.sparse);
  slabs.base = arena.pool(bytes).base;
  slabs.count = static_cast<std::uint32_t>(bytes / parameters.slab_bytes);
  slabs.shift = simt::count_trailing_zeros(parameters.slab_bytes);
  slabs.states = arena.metadata<std::uint64_t>(slabs.count);
  slabs.kinds = arena.metadata<std::uint32_t>(slabs.count);
  slabs.bits = arena.metadata<std::uint64_t>(slabs.bit_word(slabs.count, 0));
  slabs.set_words = arena.metadata<std::uint32_t>(allocator.set_words());
  allocator.heads_.sizes = arena.metadata<halloc::SizeState>(halloc::size_count);
  allocator.heads_.cache_next_head = parameters.cache_next_head;
  allocator.steps_ = hash_steps(arena, slabs.classes);
  allocator.largest_in_slabs_ = slabs.classes.largest_request();
  allocator.large_blocks_ =
      DeviceHeapShare::create(arena, device_heap_bytes(arena.pool_bytes(), parameters), allocator.largest_in_slabs_);
  allocator.reset(arena.stream());
  return allocator;
}

}  // namespace allocbench

ALLOCBENCH_REGISTER(halloc_reworked, HallocReworked)
