// FlatRing is the standard queue storage (S): one flat ring of a fixed size per class.
//
// The put at queue position n waits until slot n mod capacity is empty. The wait ends, because a class never owns more
// indices than its ring has slots. If no take had got position n - capacity yet, the puts at positions n - capacity to
// n would have capacity + 1 different indices, which is more than the class owns.
//
// Differs from the paper: If the ring of a class cannot hold the indices of one more chunk, the class gets no further
// chunk. In the published form, rings can overflow. Then threads that free wait for a malloc, possibly forever.
#pragma once

#include "allocators/ouroboros/chunk_space.hpp"

namespace allocbench::ouroboros {

enum class QueueEnd { front, back };

struct FlatRing {
  static constexpr bool virtualised = false;

  // All bytes are zero at first.
  struct ClassState {
    alignas(128) std::uint64_t owned;  // number of indices that may be in the ring
  };
  struct Place {
    std::uint32_t* slot;
  };

  std::uint32_t* slots = nullptr;
  RingLayout layout;

  // Returns the slot of the put or take at queue position `number`.
  template <QueueEnd end, class Thread>
  SIMT_FN Place place(Thread&, const ChunkSpace&, ClassState&, std::uint32_t id, std::uint32_t number) const {
    return {slots + layout.begin(id) + (number & (layout.capacity(id) - 1))};
  }

  // leave() and leave_alone() do nothing in FlatRing; other storages count the emptied slots. After their takes, the
  // lanes of a group call leave() together, each with its place. A single thread calls leave_alone().
  template <class Thread, class Group>
  SIMT_FN void leave(Thread&, const Group&, const ChunkSpace&, ClassState&, std::uint32_t, const Place&) const {}
  template <class Thread>
  SIMT_FN void leave_alone(Thread&, const ChunkSpace&, ClassState&, std::uint32_t, const Place&) const {}

  // Reserves room in the queue for the indices of up to `chunks` more chunks, `per_chunk` each. Returns the number of
  // chunks for which it reserved room.
  template <class Thread>
  SIMT_FN std::uint32_t cover(Thread& thread, const ChunkSpace&, ClassState& state, std::uint32_t id,
                              std::uint32_t chunks, std::uint32_t per_chunk) const {
    const auto owned = thread.atomic(state.owned);
    const std::uint64_t added = std::uint64_t{chunks} * per_chunk;
    const std::uint64_t capacity = layout.capacity(id);
    if (owned.fetch_add(added, simt::relaxed) + added <= capacity) return chunks;
    owned.fetch_sub(added, simt::relaxed);
    std::uint64_t now = owned.load(simt::relaxed);
    for (;;) {
      const std::uint32_t fit = now >= capacity ? 0 : static_cast<std::uint32_t>((capacity - now) / per_chunk);
      const std::uint32_t granted = fit < chunks ? fit : chunks;
      if (granted == 0) return 0;
      if (owned.compare_exchange(now, now + std::uint64_t{granted} * per_chunk, simt::relaxed, simt::relaxed)) {
        return granted;
      }
    }
  }
  template <class Thread>
  SIMT_FN void uncover(Thread& thread, ClassState& state, std::uint64_t indices) const {
    thread.atomic(state.owned).fetch_sub(indices, simt::relaxed);
  }
};

}  // namespace allocbench::ouroboros
