// SlabPool is a pool of equal slabs. In some published systems the host makes slabs while a kernel runs; this pool
// replaces the host. Threads take slabs and may return them.
//
// Fresh slabs come from a counter, and returned slabs from a stack that is linked by indices. The head of the stack has
// a tag of 32 bits that grows with every change. So a taker that another thread has overtaken installs no old link (no
// ABA), unless the number of changes between its load and its exchange is a multiple of 2^32. A return of a slab
// releases, and a take of a returned slab acquires.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

struct SlabPool {
  static constexpr std::uint32_t none = 0xffffffffu;

  // All bytes are zero at first.
  struct State {
    // Bits 0-31: number of the top slab plus 1, or 0 if the stack is empty; bits 32-63: tag.
    alignas(128) std::uint64_t returned;
    alignas(128) std::uint32_t fresh;  // slabs taken from the counter, plus attempts after its end
  };

  std::byte* base = nullptr;
  State* state = nullptr;
  std::uint32_t* links = nullptr;  // slab below each returned slab plus 1, or 0 if there is none
  std::uint32_t count = 0;
  std::uint32_t bytes_log2 = 0;

  // Divides the arena's pool into at most `most_slabs` slabs. The rest of the pool is not used. The error message
  // begins with `name`, the name of the allocator.
  static SlabPool of_arena(Arena& arena, std::uint64_t slab_bytes, std::uint64_t most_slabs, std::string_view name) {
    const std::size_t count = std::min<std::size_t>(arena.pool_bytes() / slab_bytes, most_slabs);
    if (count == 0) {
      throw Unsupported(std::string(name) + " needs a pool of at least one slab (" + std::to_string(slab_bytes) +
                        " bytes)");
    }
    return {arena.pool().base, arena.metadata<State>(1), arena.metadata<std::uint32_t>(count),
            static_cast<std::uint32_t>(count), simt::count_trailing_zeros(slab_bytes)};
  }
  void reset(simt::Stream& stream) const { simt::device_fill(stream, state, 0, sizeof *state); }

  SIMT_HOST_FN std::size_t slab_bytes() const { return std::size_t{1} << bytes_log2; }
  SIMT_FN std::byte* address(std::uint32_t slab) const { return base + (std::size_t{slab} << bytes_log2); }
  SIMT_FN std::size_t offset(const void* block) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(block) - base);
  }
  SIMT_FN std::uint32_t slab_of(const void* block) const {
    return static_cast<std::uint32_t>(offset(block) >> bytes_log2);
  }
  SIMT_FN std::uint32_t inside(const void* block) const {
    return static_cast<std::uint32_t>(offset(block)) & static_cast<std::uint32_t>(slab_bytes() - 1);
  }

  // Returns whether no slab is left. Other threads may return slabs at the same time.
  template <class Thread>
  SIMT_FN bool exhausted(Thread& thread) const {
    return static_cast<std::uint32_t>(thread.atomic(state->returned).load(simt::relaxed)) == 0 &&
           thread.atomic(state->fresh).load(simt::relaxed) >= count;
  }

  // Takes a returned slab, otherwise a fresh one. Returns `none` if there is neither.
  template <class Thread>
  SIMT_FN std::uint32_t take(Thread& thread) const {
    const auto top = thread.atomic(state->returned);
    std::uint64_t seen = top.load(simt::acquire);
    while (static_cast<std::uint32_t>(seen) != 0) {
      const std::uint32_t slab = static_cast<std::uint32_t>(seen) - 1;
      const std::uint32_t below = thread.atomic(links[slab]).load(simt::relaxed);
      if (top.compare_exchange(seen, next_tag(seen) | below, simt::acquire, simt::acquire)) return slab;
      thread.probe(simt::Step::retry);
    }
    // Without the load, refused threads would advance the counter until it overflows.
    const auto fresh = thread.atomic(state->fresh);
    if (fresh.load(simt::relaxed) >= count) return none;
    const std::uint32_t slab = fresh.fetch_add(1u, simt::relaxed);
    return slab < count ? slab : none;
  }

  template <class Thread>
  SIMT_FN void give(Thread& thread, std::uint32_t slab) const {
    const auto top = thread.atomic(state->returned);
    std::uint64_t seen = top.load(simt::relaxed);
    do {
      thread.atomic(links[slab]).store(static_cast<std::uint32_t>(seen), simt::relaxed);
    } while (!top.compare_exchange(seen, next_tag(seen) | (slab + 1), simt::acq_rel, simt::relaxed));
  }

 private:
  SIMT_FN static std::uint64_t next_tag(std::uint64_t head) { return ((head >> 32) + 1) << 32; }
};

}  // namespace allocbench
