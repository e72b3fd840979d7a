// In Gallatin with the static counter, each class has slots of one block, and a slot keeps its counter when its block
// is replaced. A thread that remembers its slot usually needs one addition for a request.
//
// Source: McCoy & Pandey, Gallatin, PPoPP 2024, and the documents of the authors' public code after March 2024.
//
// Idea:
// * malloc: A thread remembers slot, block and generation of its last request (its context). One addition to the slot's
//   counter returns the current generation and the caller's slices. If the block is used up, the thread searches for a
//   slot again. Requests above eight of the largest slices are served as in gallatin.hpp. Blocks and segments are
//   handled as in Gallatin, too.
// * free: A free works as in gallatin.hpp.
//
// static_slots.hpp, static_session.hpp and blocks.hpp describe the data and the protocol.
//
// Sessions (allocators/support/contract/session.hpp): attach() returns a session without a context, and its first
// request makes a context. The context ends with the kernel, as in the authors' static context. With `remember_slot`
// off, every request searches for its slot (the stateless malloc of the source).
//
// Differs from the source, of which we have only the documents:
// * The differences of gallatin.hpp apply, except those of its table of pinned blocks.
// * Assumed: The search of a tile begins at the slot of the tile's number. The first request at a slot fetches the
//   slot's first block; the source has a call per class.
// * Assumed: If an addition returns a generation other than that of the context, the team looks up the block of that
//   generation in the slot, also among the retired blocks.
// * The blocks of a class's slots fill at most a thirty-second of the pool, but a class has at least one slot. By
//   default it has at most 256 slots. In the published code, the 256 slots of the largest class pin 4 GiB.
// * The back reference from a block to its slot is left out, because nothing here reads it.
// * If a class gets no more blocks and no slot has room, callers get null. In the published code, they search for slots
//   that do not exist.
//
// As published: Slices are lost if eight more generations end before the team that took them looks up their block.
#pragma once

#include "allocators/gallatin/inspect.hpp"
#include "allocators/gallatin/static_session.hpp"

namespace allocbench {
namespace gallatin {

struct StaticParameters {
  Parameters heap = {};
  std::uint32_t slots = 256;
  std::uint32_t probes = 500;
  std::uint32_t tile_lanes = 32;
  bool remember_slot = true;
  std::uint64_t segment_bytes = Parameters{}.segment_bytes;
  std::uint64_t max_slice_bytes = Parameters{}.max_slice_bytes;

  static auto fields() {
    using P = StaticParameters;
    return std::tuple{
        Field{"segment_bytes", &P::segment_bytes, "B", "bytes of a segment; halved until the pool has 32 of them",
              "public code"}
            .between(64, 1 << 24)
            .powers_of_two(),
        Field{"max_slice_bytes", &P::max_slice_bytes, "B",
              "largest slice; at most a sixteenth of a segment where segments were halved", "public code"}
            .between(16, 4096)
            .powers_of_two(),
        Field{"slots", &P::slots, "", "slots of a class, in pools with enough blocks", "public code"}
            .between(1, 4096)
            .powers_of_two(),
        Field{"probes", &P::probes, "", "slots that a search looks at", "public code"}.between(1, 4096),
        Field{"tile_lanes", &P::tile_lanes, "", "lanes that share an addition", "public code"}
            .between(16, 32)
            .powers_of_two(),
        Field{"remember_slot", &P::remember_slot, "", "keep the slot from request to request", "public code"}};
  }
  Parameters of_heap() const {
    Parameters result = heap;
    result.segment_bytes = segment_bytes;
    result.max_slice_bytes = max_slice_bytes;
    return result;
  }
};

// Makes all slots, without a block. One thread makes one slot.
struct PrepareSlots {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Slots slots, std::uint32_t all, std::uint32_t slices) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < all; i += thread.grid_size()) {
      slots.slots[i] = {};
      slots.slots[i].counter = slices;
      slots.slots[i].live = LiveBlock::of(0, no_block).word;
    }
  }
};

template <StaticBug bug>
class StaticGallatin {
 public:
  using Parameters = StaticParameters;

  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return Heap::lay_out(pool_bytes, parameters.of_heap(), "gallatin_static").max_request();
  }
  // The pool has twelve segments. A segment has two blocks of four slices of 16 bytes, or one block of four slices of
  // 32 bytes. A slot's block may lie between free segments and separate them. Its unused slices serve no other
  // class.
  static SmallHeap<Parameters> small_heap() {
    Parameters parameters;
    parameters.segment_bytes = 128;
    parameters.max_slice_bytes = 32;
    parameters.heap.least_segments = 12;
    parameters.heap.pinned_blocks = 2;
    parameters.heap.least_pinned_blocks = 2;
    parameters.heap.fanout = 2;
    return {12 * 128, parameters, 0.5, 0};
  }

  void reset(simt::Stream& stream) {
    make_new(stream, heap_);
    const std::uint32_t slots = heap_.classes << slots_.count_log2;
    simt::device_fill(stream, slots_.searches, 0, heap_.classes * sizeof *slots_.searches);
    simt::launch(stream, {(slots + 127) / 128, 128}, PrepareSlots{}, slots_, slots, heap_.slices());
  }

  template <class Thread>
  SIMT_FN StaticSession<bug> attach(Thread& thread) {
    return {heap_, slots_, limit_, tiles_, remember_, tiles_.number(thread)};
  }

  std::string broken_invariant(simt::Stream& stream) const {
    const Inspection inspection(stream, heap_);
    if (std::string broken = inspection.broken_invariant(); !broken.empty()) return broken;
    std::vector<Slot> slots(std::size_t{heap_.classes} << slots_.count_log2);
    simt::copy_to_host(stream, slots.data(), slots_.slots, slots.size() * sizeof slots[0]);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const LiveBlock live{slots[i].live};
      const std::string name = "slot " + std::to_string(i);
      if (slots[i].filling != 0) return name + " waits for a block that nobody fetches";
      if (!live.exists()) continue;
      if (live.generation() != slots[i].counter >> 32) return name + " has a block of another generation";
      const bool used_up = static_cast<std::uint32_t>(slots[i].counter) >= heap_.slices();
      if (!used_up && inspection.id_of_block(live.block()) != i >> slots_.count_log2) {
        return name + " has a block of another class";
      }
    }
    return {};
  }

 protected:
  static StaticGallatin lay_out(Arena& arena, const Parameters& parameters) {
    StaticGallatin allocator;
    allocator.heap_ = Heap::lay_out(arena.pool_bytes(), parameters.of_heap(), "gallatin_static");
    allocator.heap_.allocate(arena, false);
    allocator.limit_.bytes = allocator.heap_.max_request();
    allocator.tiles_.lanes_log2 = parameters.tile_lanes == 32 ? 5 : 4;
    allocator.remember_ = parameters.remember_slot;
    Slots& slots = allocator.slots_;
    slots.count_log2 = simt::count_trailing_zeros(parameters.slots);
    slots.pool_log2 = static_cast<std::uint32_t>(std::bit_width(arena.pool_bytes())) - 1;
    slots.probes = parameters.probes;
    slots.slots = arena.metadata<Slot>(std::size_t{allocator.heap_.classes} << slots.count_log2);
    slots.searches = arena.metadata<Searches>(allocator.heap_.classes);
    allocator.reset(arena.stream());
    return allocator;
  }

 private:
  Heap heap_;
  Slots slots_;
  RequestLimit limit_;
  Tiles tiles_;
  bool remember_ = true;
};

}  // namespace gallatin

struct GallatinStatic : gallatin::StaticGallatin<gallatin::StaticBug::none> {
  static constexpr Traits traits{.name = "gallatin_static",
                                 .display_name = "Gallatin, static counter",
                                 .paper = "McCoy & Pandey 2024; public code of 2026",
                                 .summary =
                                     "as Gallatin; the counter of a block belongs to its slot and carries a "
                                     "generation, so a thread that remembers its slot needs one addition",
                                 .form = Form::published};
  static GallatinStatic create(Arena& arena, const Parameters& parameters) { return {lay_out(arena, parameters)}; }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(gallatin_static, GallatinStatic)
