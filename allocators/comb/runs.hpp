// A request of more than half a chunk gets a run of free chunks in a row. The search starts at the end of the pool.
//
// A thread claims a run by setting its bits, up to 32 at a time, and undoes the claim if another thread has one of the
// chunks. The words of the run stay closed. Each thread works alone, because we expect few large requests.
#pragma once

#include "allocators/comb/retirement.hpp"

namespace allocbench::comb {

// MapPart has the bits of those chunks from `first` to `end` - 1 that are in the same word of `in_use` as `first`.
struct MapPart {
  std::uint32_t word;
  std::uint32_t bits;
  std::uint32_t next;  // first chunk behind this word or behind the run

  SIMT_FN MapPart(std::uint32_t first, std::uint32_t end) : word((first - first_chunk) / 32) {
    const std::uint32_t low = (first - first_chunk) % 32;
    const std::uint32_t count = end - first < 32 - low ? end - first : 32 - low;
    bits = (0xffffffffu >> (32 - count)) << low;
    next = first + count;
  }
};

template <class Thread, class S>
SIMT_FN void release_run(Thread& thread, const S& space, std::uint32_t first, std::uint32_t end) {
  while (first != end) {
    const MapPart part(first, end);
    thread.atomic(space.in_use[part.word]).fetch_and(~part.bits, simt::release);
    first = part.next;
  }
}

// Takes ownership of chunks first to end - 1. Returns false and takes none if one of them is not free.
template <class Thread, class S>
SIMT_FN bool claim_run(Thread& thread, const S& space, std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t chunk = first; chunk != end;) {
    const MapPart part(chunk, end);
    const auto word = thread.atomic(space.in_use[part.word]);
    const std::uint32_t before = word.fetch_or(part.bits, simt::acquire);
    if ((before & part.bits) != 0) {
      thread.probe(simt::Step::retry);
      word.fetch_and(~(part.bits & ~before), simt::release);
      release_run(thread, space, first, chunk);
      return false;
    }
    chunk = part.next;
  }
  return true;
}

// Searches once for a run, beginning at the end of the pool. With `aligned`, a run may start only at multiples of its
// length from the end, so that equal runs leave no gaps. Sets `contended` if another thread took a chunk of the run
// that was found.
template <class Thread, class S>
SIMT_FN std::uint32_t find_run(Thread& thread, const S& space, std::uint32_t count, bool aligned, bool& contended) {
  std::uint32_t length = 0;
  std::uint32_t word = 0;
  for (std::uint32_t i = space.chunks; i > 0;) {
    --i;
    if (i == space.chunks - 1 || i % 32 == 31) word = thread.atomic(space.in_use[i / 32]).load(simt::relaxed);
    length = (word >> i % 32 & 1) == 0 ? length + 1 : 0;
    if (length < count || (aligned && (space.chunks - i) % count != 0)) continue;
    const std::uint32_t first = first_chunk + i;
    if (claim_run(thread, space, first, first + count)) return first;
    contended = true;  // the caller searches from the end again, because a run further down would leave a gap
    break;
  }
  return no_chunk;
}

// Makes the empty chunks of all classes free. Returns true if at least one chunk became free.
template <class Thread, class S, class Group>
SIMT_FN bool retire_all(Thread& thread, const S& space, const Group& alone) {
  bool any = false;
  for (std::uint32_t chunk = first_chunk; chunk < space.chunks + first_chunk; ++chunk) {
    const std::uint32_t entry = thread.atomic(space.table[chunk]).load(simt::acquire);
    if (!is_class(entry)) continue;
    const SizeClass size_class = space.size_class(entry - 1);
    if (!seems_empty(thread, space, chunk, size_class, locked)) continue;
    if (retire(thread, space, alone, chunk, size_class, free_chunk)) any = true;
  }
  return any;
}

// Each calling thread gets a block of more than half a chunk, or null.
template <class Thread, class S>
SIMT_NOINLINE_FN void* take_run(Thread& thread, const S& space, std::size_t bytes) {
  constexpr std::uint32_t most_rounds = 32;
  constexpr std::uint32_t aligned_rounds = 2;  // the second one after all empty chunks were retired
  const std::uint64_t wanted = (bytes + space.chunk_bytes() - 1) >> space.chunk_log2;
  const auto alone = thread.converged().match_any(thread.lane());
  const auto count = static_cast<std::uint32_t>(wanted);
  for (std::uint32_t round = 0; round < most_rounds; ++round) {
    bool contended = false;
    const std::uint32_t chunk = find_run(thread, space, count, round < aligned_rounds, contended);
    if (chunk != no_chunk) {
      thread.atomic(*space.used).fetch_add(count, simt::relaxed);
      for (std::uint32_t i = 1; i < count; ++i) thread.atomic(space.table[chunk + i]).store(inside_run, simt::relaxed);
      thread.atomic(space.table[chunk]).store(head_of_run | count, simt::relaxed);
      return space.chunk_begin(chunk);
    }
    if (!retire_all(thread, space, alone) && !contended && round >= aligned_rounds) break;
    thread.spin_hint();
  }
  return nullptr;
}

template <class Thread, class S>
SIMT_NOINLINE_FN void free_run(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t entry) {
  const std::uint32_t end = chunk + (entry & ~head_of_run);
  for (std::uint32_t i = chunk; i < end; ++i) thread.atomic(space.table[i]).store(free_chunk, simt::relaxed);
  release_run(thread, space, chunk, end);
  thread.atomic(*space.used).fetch_sub(end - chunk, simt::relaxed);
}

}  // namespace allocbench::comb
