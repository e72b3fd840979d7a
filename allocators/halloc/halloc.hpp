// Halloc as published is a bitmap heap of slabs, with a hash that usually finds a free block in one or two tries.
//
// Paper: Adinetz & Pleiter, Halloc: Fast malloc()/free() for GPUs, GTC 2014 (slides). Details that the slides lack
// follow the authors' public code 0.11.
//
// Idea:
// * malloc, up to 3072 bytes: A request is rounded up to a block size. Each size has a counter, and one addition gives
//   a number to every lane of a warp that requests this size. A hash of the number selects blocks of the size's head
//   slab, and an atomic OR takes a block. The lanes that won add to the count of the slab together and write the
//   lengths of their blocks. When the head is 83.5 % full (by default), another slab becomes the head.
// * malloc, larger requests: They go to the back end's device heap, which by default gets a quarter of the memory.
// * free: The slab follows from the address; blocks outside the slabs go to the device heap. A free reads the length of
//   its block and clears length and bits. One subtraction from the slab's count serves all lanes of a warp that
//   together free equal blocks of the slab. If the slab is not a head and its count crosses a threshold, the free moves
//   the slab to another set.
//
// Data: sizes and hash (size_classes.hpp), slabs and their protocol (counted_slabs.hpp), sets (slab_bitmap.hpp), heads
// and their replacement (locked_heads.hpp), the slab grid (slab_grid.hpp).
//
// Differs from the slides and the public code:
// * We chose the memory orders (counted_slabs.hpp).
// * Groups of lanes are explicit masks: the lanes that call together with one size stay together until each has its
//   block. The public code loops over votes of all currently running lanes, and these loops hang on GPUs since Volta.
// * A lane gives up in three cases: no slab is found, four visits in a row to the same busy head give no block, or the
//   lane has made 64 visits plus two per slab. Requests above the device heap's share are refused, because CUDA's
//   malloc overflows near 2^64.
// * Requests of 17 to 24 bytes get 32 bytes, because 24-byte blocks would be aligned only to 8 bytes. For 384 and 768
//   bytes, a slab has 10,920 chunks instead of the published 10,922.
// * The last words of the sets are searched too. In the public code, every small malloc fails with fewer than 32 slabs
//   (pools below 171 MiB).
// * Assumed: A former head goes into a set by the thresholds of its size, even if it is busy. A search puts a busy slab
//   back if the slab is too full. In the public code, such slabs are in no set until a free crosses a threshold.
// * Lengths take 128 KiB per slab of 4 MiB. The public code has 256 KiB and uses half of them.
// * One pool replaces slabs that are allocated one by one, so the address of a slab is computed. The grid allows at
//   most 8191 slabs, as published.
//
// Only a new process makes the heap fresh, because nothing records the blocks of the device heap.
//
// halloc_reworked.hpp describes the reworked form and the benefit of each change.
#pragma once

#include <string>

#include "allocators/halloc/counted_check.hpp"
#include "allocators/halloc/halloc_base.hpp"
#include "allocators/halloc/slab_grid.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

// Makes all slabs free, and gives all sizes their first counters and no heads.
struct PrepareHalloc {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, halloc::LockedHeads heads, std::uint64_t* cells) const {
    const halloc::CountedSlabs& slabs = heads.slabs;
    const std::uint32_t me = thread.rank_in_grid();
    for (std::uint32_t i = me; i < slabs.count; i += thread.grid_size()) {
      thread.atomic(slabs.counters[i]).store(halloc::SlabCounter::of(halloc::SlabCounter::no_kind, 0), simt::relaxed);
      slabs.slabs[i] = {0, 0, halloc::SlabCounter::no_kind, 0, reinterpret_cast<std::uint64_t>(slabs.address(i, 0, 0))};
      slabs.free_set().add(thread, i);
      cells[i] = halloc::SlabGrid::cell(i, i, 0);
    }
    if (me < halloc::size_count) {
      heads.sizes[me] = {halloc::SizeHead::first_counter, halloc::no_slab, halloc::no_slab, 0};
    }
  }
};

namespace halloc {

// AsPublished holds the features of the published form as compile-time constants.
struct AsPublished {
  using Parameters = halloc::Parameters;
  static constexpr bool aggregation = true;
  static constexpr std::uint32_t hash_spread = published_spread;
  static constexpr std::uint32_t hash_stretch = published_stretch;
  static AsPublished of(const Parameters&) { return {}; }
};

// In Varied, the same features are parameters.
struct Varied {
  using Parameters = VariedParameters;
  bool aggregation = true;
  std::uint32_t hash_spread = published_spread;
  std::uint32_t hash_stretch = published_stretch;
  static Varied of(const Parameters& p) { return {p.aggregation, p.hash_spread, p.hash_stretch}; }
};

template <class Choices>
class PublishedHalloc : public HallocBase {
 public:
  using Parameters = typename Choices::Parameters;

  // Two of three slabs stay with a size after its first request: its head and the next head.
  static SmallHeap<Parameters> small_heap() { return three_slabs<Parameters>(0.3); }
  static SmallHeap<Parameters> second_small_heap() { return slabs_and_device_heap<Parameters>(0.3); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes > largest_in_slabs_)
      return device_heap_limit_.refuses(bytes) ? nullptr : thread.device_heap().malloc(bytes);
    const std::uint32_t id = size_id(static_cast<std::uint32_t>(bytes));
    const auto group = thread.converged().match_any(id);
    SizeHead& size = heads_.sizes[id];
    const std::uint32_t head = thread.atomic(size.head).load(simt::acquire);
    const std::uint32_t counter = next_counter(thread, group, size);
    return visit_heads(thread, group, id, head, heads_.slabs.classes.first_probe(id, counter, choices_.hash_spread));
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const CountedSlabs& slabs = heads_.slabs;
    const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - slabs.base);
    std::uint32_t slab;
    if (!grid_.find(offset, slab)) return thread.device_heap().free(block);
    // The kind of a slab does not change while one of its blocks is in use.
    const std::uint32_t kind = thread.atomic(slabs.slabs[slab].kind).load(simt::relaxed);
    const std::uint32_t chunk = chunk_of_offset(kind, static_cast<std::uint32_t>(offset) & ((1u << slabs.shift) - 1));
    const std::uint32_t length = slabs.take_length(thread, slab, chunk);
    slabs.clear_bits(thread, slab, chunk, (1u << length) - 1);
    const auto group = thread.converged().match_any(together(thread, slab << 4 | length));
    group.sync();  // the leader's release covers all lanes
    if (group.leader()) slabs.subtract(thread, slab, group.num_threads() * length);
  }

  std::string broken_invariant(simt::Stream& stream) const { return broken_slab(heads_, stream); }

  const LockedHeads& heads() const { return heads_; }

 protected:
  // Lays out the heap. `name` is the name of the form, for error messages.
  static PublishedHalloc lay_out(Arena& arena, const Parameters& parameters, std::string_view name);

 private:
  static constexpr std::uint32_t first_probes = 31;
  static constexpr std::uint32_t later_probes = 32;
  static constexpr std::uint32_t most_idle_visits = 4;

  // Probes holds the current position of a lane in its series of chunks.
  struct Probes {
    std::uint32_t first;
    std::uint32_t chunk;
    std::uint32_t number;
  };

  // Returns the number of the caller's request among all requests of its size. With aggregation the leader counts for
  // the group, otherwise each lane counts by itself.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t next_counter(Thread& thread, const Group& group, SizeHead& size) const {
    if (!choices_.aggregation) return thread.atomic(size.counter).fetch_add(1u, simt::relaxed);
    std::uint32_t counter = 0;
    if (group.leader()) counter = thread.atomic(size.counter).fetch_add(group.num_threads(), simt::relaxed);
    return group.broadcast(counter) + group.thread_rank();
  }

  // Returns the common key of lanes that change a count together. Without aggregation, each lane has its own key.
  template <class Thread>
  SIMT_FN std::uint32_t together(Thread& thread, std::uint32_t key) const {
    return choices_.aggregation ? key : thread.lane();
  }

  // Visits one head after the other until every lane of the group has a block or gives up. The lanes request blocks of
  // the same size. Each lane starts at its own `first`, which is h(c, 0) of size_classes.hpp.
  template <class Thread, class Group>
  SIMT_FN void* visit_heads(Thread& thread, Group group, std::uint32_t id, std::uint32_t head, std::uint32_t first) {
    Probes probes{first, first, 0};
    std::uint32_t idle = 0;
    std::uint32_t visits_left = 64 + 2 * heads_.slabs.count;
    SIMT_ROLLED
    for (std::uint32_t most = first_probes;; most = later_probes) {
      bool full = head == no_slab;
      const bool reserved = !full && reserve(thread, head, id, most, probes, full);
      const auto alike = group.partition(reserved);
      bool asks = !reserved;
      void* const block = reserved ? claim(thread, alike, head, id, probes.chunk, asks) : nullptr;
      const auto askers = group.partition(asks);
      if (!asks) return block;
      std::uint32_t next = 0;
      if (askers.leader()) next = heads_.replacement(thread, id, head);
      next = askers.broadcast(next);
      askers.sync();  // the leader's acquire covers all lanes
      idle = full && next == head ? idle + 1 : 0;
      const bool goes_on = block == nullptr && next != no_slab && idle < most_idle_visits && --visits_left != 0;
      group = askers.partition(goes_on);
      if (!goes_on) return block;
      head = next;
    }
  }

  // Tries at most `most` times to set the bits of a block of this head. Returns whether it has set them. After every
  // second failure, the lane checks the slab's count. If the slab is busy, the lane leaves it and sets `full`. A slab
  // that is not busy may have no clear bits, because lanes count their blocks after they win them.
  template <class Thread>
  SIMT_FN bool reserve(Thread& thread, std::uint32_t slab, std::uint32_t id, std::uint32_t most, Probes& probes,
                       bool& full) const {
    const CountedSlabs& slabs = heads_.slabs;
    const std::uint32_t busy = slabs.classes.thresholds(kind_of(id)).busy;
    SIMT_ROLLED
    for (std::uint32_t failed = 1; failed <= most; ++failed) {
      if (slabs.set_bits(thread, slab, probes.chunk, block_log(id))) return true;
      thread.probe(simt::Step::retry);
      ++probes.number;
      probes.chunk = slabs.classes.next_probe(id, probes.first, probes.number, steps_[id], choices_.hash_stretch);
      if (failed % 2 == 0 && slabs.used(thread, slab) >= busy) {
        full = true;
        return false;
      }
    }
    return false;
  }

  // Counts the blocks whose bits the lanes of the group have set. Returns null if the slab was freed meanwhile. Sets
  // `asks` for lanes that must request another head: all lanes if the slab was freed, otherwise a leader whose addition
  // made the slab busy.
  template <class Thread, class Group>
  SIMT_FN void* claim(Thread& thread, const Group& group, std::uint32_t slab, std::uint32_t id, std::uint32_t chunk,
                      bool& asks) const {
    const CountedSlabs& slabs = heads_.slabs;
    const std::uint32_t log = block_log(id);
    const auto same = group.match_any(together(thread, slab));
    const std::uint32_t chunks = same.num_threads() << log;
    std::uint32_t before = 0;
    if (same.leader()) {
      before = thread.atomic(slabs.counters[slab]).fetch_add(chunks * SlabCounter::one_chunk, simt::relaxed);
    }
    before = same.broadcast(before);
    if (SlabCounter::kind(before) != kind_of(id)) {
      slabs.clear_bits(thread, slab, chunk, (1u << (1u << log)) - 1);
      same.sync();  // the leader's release covers all lanes
      if (same.leader()) slabs.subtract(thread, slab, chunks);
      asks = true;
      return nullptr;
    }
    const std::uint32_t busy = slabs.classes.thresholds(kind_of(id)).busy;
    const std::uint32_t used = SlabCounter::chunks(before);
    asks = same.leader() && used < busy && used + chunks >= busy;
    slabs.write_length(thread, slab, chunk, log);
    return slabs.address(slab, kind_of(id), chunk);
  }

  LockedHeads heads_;
  SlabGrid grid_;
  const std::uint32_t* steps_ = nullptr;  // steps of the hash per size; never written on the device
  std::uint32_t largest_in_slabs_ = 0;
  RequestLimit device_heap_limit_;
  Choices choices_;
};

template <class Choices>
PublishedHalloc<Choices> PublishedHalloc<Choices>::lay_out(Arena& arena, const Parameters& parameters,
                                                           std::string_view name) {
  const std::size_t bytes = slab_pool_bytes(arena.pool_bytes(), parameters);
  const std::size_t count = bytes / parameters.slab_bytes;
  if (count == 0) {
    throw Unsupported(std::string(name) + " needs a pool whose slab_share holds at least one slab of " +
                      std::to_string(parameters.slab_bytes) + " bytes");
  }
  constexpr std::uint64_t most = SlabGrid::most_slabs;
  if (count > most) {
    throw Unsupported(std::string(name) + " numbers at most " + std::to_string(most) + " slabs, and the pool has " +
                      std::to_string(count) + " of " + std::to_string(parameters.slab_bytes) +
                      " bytes; \"parameters\": {\"slab_bytes\": " +
                      std::to_string(std::bit_ceil(bytes / (most + 1) + 1)) + "} bears them");
  }
  PublishedHalloc allocator;
  allocator.choices_ = Choices::of(parameters);
  CountedSlabs& slabs = allocator.heads_.slabs;
  slabs.classes = SizeClasses::of_slab(parameters.slab_bytes, parameters.busy, parameters.roomy, parameters.sparse);
  slabs.base = arena.pool(bytes).base;
  slabs.count = static_cast<std::uint32_t>(count);
  slabs.shift = simt::count_trailing_zeros(parameters.slab_bytes);
  slabs.counters = arena.metadata<std::uint32_t>(count);
  slabs.slabs = arena.metadata<SlabDescriptor>(count);
  slabs.locks = arena.metadata<std::uint32_t>(count);
  slabs.bits = arena.metadata<std::uint32_t>(slabs.bit_word(slabs.count, 0));
  slabs.lengths = arena.metadata<std::uint32_t>(slabs.length_word(slabs.count, 0));
  slabs.set_words = arena.metadata<std::uint32_t>(std::size_t{CountedSlabs::set_count} * slabs.words_per_set());
  allocator.heads_.sizes = arena.metadata<SizeHead>(size_count);
  allocator.heads_.cache_next_head = parameters.cache_next_head;
  auto* const cells = arena.metadata<std::uint64_t>(count);
  allocator.grid_ = {cells, slabs.count, slabs.shift};
  allocator.steps_ = hash_steps(arena, slabs.classes);
  allocator.largest_in_slabs_ = slabs.classes.largest_request();
  allocator.device_heap_limit_.bytes = device_heap_bytes(arena.pool_bytes(), parameters);
  simt::launch(arena.stream(), {1, 128}, PrepareHalloc{}, allocator.heads_, cells);
  return allocator;
}

}  // namespace halloc

struct Halloc : halloc::PublishedHalloc<halloc::AsPublished> {
  static constexpr Traits traits{.name = "halloc",
                                 .display_name = "Halloc",
                                 .paper = "Adinetz & Pleiter 2014",
                                 .summary =
                                     "slabs with a bit per chunk, blocks found by hashing a counter, up to 3 KiB; "
                                     "larger requests go to the device heap",
                                 .form = Form::published,
                                 .pool = PoolLocation::arena_and_device_heap,
                                 .fresh = Fresh::by_process};
  static Halloc create(Arena& arena, const Parameters& parameters) { return {lay_out(arena, parameters, traits.name)}; }
};

struct HallocVaried : halloc::PublishedHalloc<halloc::Varied> {
  static constexpr Traits traits{.name = "halloc_varied",
                                 .display_name = "Halloc, varied",
                                 .paper = "Adinetz & Pleiter 2014",
                                 .summary =
                                     "as halloc, with the constants of its hash and the aggregation of its "
                                     "counters as parameters, which cost registers",
                                 .form = Form::ablation,
                                 .based_on = "halloc",
                                 .pool = PoolLocation::arena_and_device_heap,
                                 .fresh = Fresh::by_process};
  static HallocVaried create(Arena& arena, const Parameters& parameters) {
    return {lay_out(arena, parameters, traits.name)};
  }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(halloc, Halloc, HallocVaried)
