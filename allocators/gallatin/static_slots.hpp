// In Gallatin with the static counter, a slot has one block at a time and keeps its counter when the block changes.
//
// Source: documents of the authors' public code after March 2024 (invariants of the static counter, static context). A
// slot belongs to a class and has at most one block at a time. In the code of 2024, the counter of the slices is part
// of the block. Here the counter is part of the slot and carries the generation of the slot's block. A thread remembers
// slot, block and generation, and needs one addition: if the generation is the same and the slice exists, the thread
// owns the slice.
//
// * `counter` is generation << 32 | slices handed out. This word has its own line of memory.
// * `live` is valid << 63 | generation << 32 | block.
// * `retired` has the last eight values of `live`. If an addition belongs to an ended generation, the team (the lanes
//   that add together) finds the block there.
//
// Protocol: The team whose slices cross the end of the block replaces the block. The team takes a new block, stores the
// old one in `retired`, writes the new `live` and finally exchanges the counter for the next generation. Until then,
// additions to the old counter find no slice. A request gives up if a search for a block of its class began after the
// request and found none, no other search is running, and no slot has room. Without this rule, every request in a full
// pool would search every slot (docs/findings.md).
//
// Memory orders: The counter hands the block over. The counter is exchanged with release and increased with acquire.
#pragma once

#include "allocators/gallatin/blocks.hpp"

namespace allocbench::gallatin {

// StaticBug lists errors that the authors' documents report. The bug zoo plants them (tests/check/zoo/gallatins.hpp).
enum class StaticBug {
  none,
  torn_context,     // a request reads block and generation one after the other
  same_generation,  // a new block keeps the generation, so remembered contexts refer to the old one
  single_additions  // a request for several slices adds one to the counter
};

struct LiveBlock {
  static constexpr std::uint64_t valid = std::uint64_t{1} << 63;

  std::uint64_t word;

  static SIMT_HOST_FN LiveBlock of(std::uint32_t generation, std::uint32_t block) {
    return {(block == no_block ? 0 : valid) | std::uint64_t{generation & 0x7fffffffu} << 32 | block};
  }
  SIMT_HOST_FN bool exists() const { return (word & valid) != 0; }
  SIMT_HOST_FN std::uint32_t generation() const { return static_cast<std::uint32_t>(word >> 32) & 0x7fffffffu; }
  SIMT_HOST_FN std::uint32_t block() const { return static_cast<std::uint32_t>(word); }
};

struct Slot {
  static constexpr std::uint32_t retired_blocks = 8;

  alignas(128) std::uint64_t counter;
  alignas(128) std::uint64_t live;
  std::uint64_t retired[retired_blocks];
  std::uint32_t filling;  // 1 while a request gets the first block of the slot
};

// Searches counts the searches for blocks of a class.
struct Searches {
  static constexpr std::uint64_t on_its_way = 1;                 // bits 0-31: searches that are running
  static constexpr std::uint64_t vain = std::uint64_t{1} << 32;  // bits 32-63: searches that found no block

  alignas(128) std::uint64_t word;

  static SIMT_HOST_FN bool any_on_its_way(std::uint64_t word) { return static_cast<std::uint32_t>(word) != 0; }
  // Returns whether a search certainly began after `then` and found nothing before `now`.
  static SIMT_HOST_FN bool vain_since(std::uint64_t then, std::uint64_t now) {
    return static_cast<std::uint32_t>((now >> 32) - (then >> 32)) > static_cast<std::uint32_t>(then);
  }
};

// Shortage records what a request without a slot knows about the searches.
struct Shortage {
  std::uint64_t since = 0;  // word of the searches when the request came
  bool begun = false;
  bool certain = false;  // true if a search that began later found nothing
};

// Context is the state of a thread between its requests. If `size_class` is all ones, there is no state.
struct Context {
  std::uint32_t size_class = 0xffffffffu;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  std::uint32_t block = no_block;
};

struct Slots {
  Slot* slots = nullptr;
  Searches* searches = nullptr;  // one counter per class
  std::uint32_t count_log2 = 0;
  std::uint32_t pool_log2 = 0;
  std::uint32_t probes = 0;

  SIMT_FN Slot& at(std::uint32_t size_class, std::uint32_t slot) const {
    return slots[(size_class << count_log2) + slot];
  }
  // Returns the number of slots of a class. The blocks of these slots fill at most a thirty-second of the pool, but a
  // class has at least one slot.
  SIMT_HOST_FN std::uint32_t count(const Heap& heap, std::uint32_t size_class) const {
    const std::uint32_t spent_log2 = heap.block_log2(size_class) + 5;
    const std::uint32_t left_log2 = pool_log2 > spent_log2 ? pool_log2 - spent_log2 : 0;
    return 1u << (left_log2 < count_log2 ? left_log2 : count_log2);
  }
};

// Gives the slot its next block after generation `old` has ended. If the class gets no block, the slot stays without
// one, and the function returns false.
template <StaticBug bug, class Thread>
SIMT_FN bool renew(Thread& thread, const Heap& heap, const Slots& slots, Slot& slot, std::uint32_t size_class,
                   LiveBlock old) {
  const auto searches = thread.atomic(slots.searches[size_class].word);
  searches.fetch_add(Searches::on_its_way, simt::relaxed);
  const std::uint32_t block = request_block(thread, heap, size_class);
  const std::uint32_t step = bug == StaticBug::same_generation ? 0 : 1;
  const LiveBlock next = LiveBlock::of(old.generation() + step, block);
  if (old.exists()) {
    thread.atomic(slot.retired[old.generation() % Slot::retired_blocks]).store(old.word, simt::relaxed);
  }
  if (block == no_block) {
    // The counter stays exhausted, and the generation stays the old one.
    thread.atomic(slot.live).store(LiveBlock::of(old.generation(), no_block).word, simt::release);
    searches.fetch_add(Searches::vain - Searches::on_its_way, simt::release);
    return false;
  }
  thread.atomic(slot.live).store(next.word, simt::release);
  thread.atomic(slot.counter).exchange(std::uint64_t{next.generation()} << 32, simt::acq_rel);
  searches.fetch_sub(Searches::on_its_way, simt::release);
  return true;
}

template <StaticBug bug, class Thread>
SIMT_NOINLINE_FN bool renew_slot(Thread& thread, const Heap& heap, const Slots& slots, Slot& slot,
                                 std::uint32_t size_class, LiveBlock old) {
  return renew<bug>(thread, heap, slots, slot, size_class, old);
}

// Returns the block of this generation, which may have ended, or no_block if the slot no longer has the block.
template <class Thread>
SIMT_FN std::uint32_t block_of_generation(Thread& thread, Slot& slot, std::uint32_t generation) {
  LiveBlock found{thread.atomic(slot.live).load(simt::acquire)};
  if (found.exists() && found.generation() == generation) return found.block();
  found.word = thread.atomic(slot.retired[generation % Slot::retired_blocks]).load(simt::relaxed);
  return found.exists() && found.generation() == generation ? found.block() : no_block;
}

// Resolved is the result of a search for a slot with room. `busy` means that the caller must search again.
enum class Resolved : std::uint32_t { found, busy, exhausted };

// Finds the first slot with room, beginning at the caller's own slot. A slot without a block gets one if possible.
template <StaticBug bug, class Thread>
SIMT_NOINLINE_FN Resolved resolve(Thread& thread, const Heap& heap, const Slots& slots, std::uint32_t size_class,
                                  std::uint32_t own, Context& context, Shortage& shortage) {
  const auto searches = thread.atomic(slots.searches[size_class].word);
  if (shortage.certain && Searches::any_on_its_way(searches.load(simt::acquire))) return Resolved::busy;
  const std::uint32_t last = slots.count(heap, size_class) - 1;
  bool may_search = !shortage.certain;
  SIMT_ROLLED
  for (std::uint32_t probe = 0; probe <= last && probe < slots.probes; ++probe) {
    const std::uint32_t number = (own + probe) & last;
    Slot& slot = slots.at(size_class, number);
    LiveBlock live{thread.atomic(slot.live).load(simt::acquire)};
    if (!live.exists()) {
      if (!may_search) continue;
      if (!shortage.begun) shortage = {searches.load(simt::relaxed), true, false};
      if (thread.atomic(slot.filling).exchange(1u, simt::acquire) != 0) continue;
      // Another request may have filled the slot, so this request checks once more.
      live.word = thread.atomic(slot.live).load(simt::acquire);
      may_search = live.exists() || renew<bug>(thread, heap, slots, slot, size_class, live);
      thread.atomic(slot.filling).store(0u, simt::release);
      if (!may_search) continue;
      live.word = thread.atomic(slot.live).load(simt::acquire);
      if (!live.exists()) continue;
    }
    const std::uint64_t counter = thread.atomic(slot.counter).load(simt::acquire);
    const auto generation = static_cast<std::uint32_t>(counter >> 32);
    if (bug != StaticBug::torn_context && generation != live.generation()) continue;
    if (static_cast<std::uint32_t>(counter) >= heap.slices()) continue;
    context = {size_class, number, generation, live.block()};
    return Resolved::found;
  }
  if (shortage.certain) return Resolved::exhausted;
  shortage.certain = shortage.begun && Searches::vain_since(shortage.since, searches.load(simt::acquire));
  return Resolved::busy;
}

}  // namespace allocbench::gallatin
