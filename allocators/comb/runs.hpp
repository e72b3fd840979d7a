// Requests of more than half a chunk: runs of free chunks, found from the end of the pool on.
//
// A run is claimed chunk by chunk in the table and given back if one of them is lost to somebody else. Its words stay
// closed. One thread works for itself: large requests are rare, and what they cost is the search.
#pragma once

#include "allocators/comb/retirement.hpp"

namespace allocbench::comb {

// Claims the chunks first to first + count - 1. Returns how many it got: count, or fewer, which are given back.
template <class Thread, class S>
SIMT_FN std::uint32_t claim_run(Thread& thread, const S& space, std::uint32_t first, std::uint32_t count) {
  std::uint32_t got = 0;
  for (; got < count; ++got) {
    std::uint32_t expected = free_chunk;
    if (!thread.atomic(space.table[first + got]).compare_exchange(expected, inside_run, simt::acquire, simt::relaxed)) {
      break;
    }
  }
  if (got == count) {
    thread.atomic(space.table[first]).store(head_of_run | count, simt::relaxed);
    return count;
  }
  thread.probe(simt::Step::retry);
  for (std::uint32_t i = 0; i < got; ++i) thread.atomic(space.table[first + i]).store(free_chunk, simt::release);
  return got;
}

// Looks for a run once, from the end on. `contended`: a run was seen and lost.
template <class Thread, class S>
SIMT_FN std::uint32_t find_run(Thread& thread, const S& space, std::uint32_t count, bool& contended) {
  std::uint32_t length = 0;
  for (std::uint32_t chunk = space.chunks + first_chunk; chunk > first_chunk;) {
    --chunk;
    const bool is_free = thread.atomic(space.table[chunk]).load(simt::relaxed) == free_chunk;
    length = is_free ? length + 1 : 0;
    if (length != count) continue;
    if (claim_run(thread, space, chunk, count) == count) return chunk;
    contended = true;
    length = 0;
  }
  return no_chunk;
}

// Retires every empty chunk; true if there was one, or if one may have been missed.
template <class Thread, class S, class Group>
SIMT_FN bool retire_all(Thread& thread, const S& space, const Group& alone) {
  bool any = false;
  for (std::uint32_t chunk = first_chunk; chunk < space.chunks + first_chunk; ++chunk) {
    const std::uint32_t entry = thread.atomic(space.table[chunk]).load(simt::acquire);
    if (!is_class(entry)) continue;
    const SizeClass size_class = space.size_class(entry - 1);
    if (!seems_empty(thread, space, chunk, size_class)) continue;
    if (retire(thread, space, alone, chunk, size_class, free_chunk)) {
      any = true;
      thread.atomic(*space.nothing_free).store(0u, simt::relaxed);
    }
  }
  return any;
}

// A block of more than half a chunk for each calling thread.
template <class Thread, class S>
SIMT_NOINLINE_FN void* take_run(Thread& thread, const S& space, std::size_t bytes) {
  constexpr std::uint32_t most_rounds = 8;
  const std::uint64_t wanted = (bytes + space.chunk_bytes() - 1) >> space.chunk_log2;
  const auto alone = thread.converged().match_any(thread.lane());
  const auto count = static_cast<std::uint32_t>(wanted);
  for (std::uint32_t round = 0; round < most_rounds; ++round) {
    bool contended = false;
    const std::uint32_t chunk = find_run(thread, space, count, contended);
    if (chunk != no_chunk) return space.chunk_begin(chunk);
    if (!retire_all(thread, space, alone) && !contended && round != 0) break;
    thread.spin_hint();
  }
  return nullptr;
}

template <class Thread, class S>
SIMT_NOINLINE_FN void free_run(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t entry) {
  const std::uint32_t count = entry & ~head_of_run;
  for (std::uint32_t i = count; i > 0; --i) {
    thread.atomic(space.table[chunk + i - 1]).store(free_chunk, simt::release);
  }
  thread.atomic(*space.nothing_free).store(0u, simt::relaxed);
}

}  // namespace allocbench::comb
