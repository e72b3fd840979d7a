// These functions take slots for the lanes of one class, from words that some of these lanes have loaded.
//
// `mates` are the lanes that request one class and still need a slot. A lane that gets a slot leaves the mates.
#pragma once

#include "allocators/comb/words.hpp"

namespace allocbench::comb {

// Applies the finalizer of MurmurHash3: every bit of the result depends on every bit of the argument.
SIMT_HOST_FN std::uint32_t scrambled(std::uint32_t bits) {
  bits = (bits ^ bits >> 16) * 0x85ebca6bu;
  bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
  return bits ^ bits >> 16;
}

template <class Thread, class Group>
SIMT_FN std::uint32_t common_random(Thread& thread, const Group& group) {
  return group.broadcast(scrambled(static_cast<std::uint32_t>(thread.clock()) + 0x9e3779b1u * thread.rank_in_grid()));
}

// Sight is a word that a lane has loaded. Every lane may have a different word, or none.
struct Sight {
  std::uint32_t chunk = no_chunk;
  std::uint32_t index = 0;           // index of the word in the chunk
  std::uint64_t seen = locked_word;  // value of the word; `locked_word`, without free slots, if the lane has loaded
                                     // none
};

template <class Thread, class S>
SIMT_FN Sight look_at(Thread& thread, const S& space, std::uint32_t chunk, std::uint32_t index) {
  return {chunk, index, thread.atomic(space.words[space.word_number(chunk, index)]).load(simt::relaxed)};
}

// Taken is the result of an attempt for a lane: a slot, or nothing.
struct Taken {
  std::uint32_t chunk = no_chunk;  // no_chunk if the lane got no slot
  std::uint32_t slot = 0;
};

// Tries once to take slots for the mates. If possible, one word serves all mates. Otherwise each lane that saw a free
// slot takes one. With `one_word`, only the leader has loaded a word, which serves as many mates as it can. `first` has
// the bits to take if the word is closed.
template <class Thread, class S, class Group>
SIMT_FN Taken take(Thread& thread, const S& space, Group& mates, SizeClass size_class, Sight mine, bool one_word,
                   std::uint32_t first) {
  const std::uint32_t wanted = mates.num_threads();
  const std::uint32_t rank = mates.thread_rank();
  const std::uint32_t here = simt::popcount(free_slots(mine.seen, size_class, mine.index));
  simt::LaneMask givers = mates.ballot(here >= wanted);
  one_word = one_word || givers != 0;
  givers = givers != 0 ? givers & (0u - givers) : mates.ballot(here != 0);
  if (givers == 0) return {};
  std::uint32_t won = 0;
  if ((givers >> thread.lane() & 1) != 0) {
    won = take_slots(thread, space, mine.chunk, mine.index, size_class, mine.seen, one_word ? wanted : 1, first);
  }
  Taken taken;
  if (one_word) {
    const std::uint32_t giver = simt::count_trailing_zeros(givers);
    won = mates.shfl_lane(won, giver);
    mine.chunk = mates.shfl_lane(mine.chunk, giver);
    mine.index = mates.shfl_lane(mine.index, giver);
    if (rank < simt::popcount(won)) taken = {mine.chunk, mine.index * 32 + simt::nth_set_bit(won, rank)};
  } else if (won != 0) {
    taken = {mine.chunk, mine.index * 32 + simt::count_trailing_zeros(won)};
  }
  mates.sync();  // the acquire of the serving lane covers all lanes
  const Group rest = mates.partition(taken.chunk == no_chunk);
  if (taken.chunk == no_chunk) mates = rest;
  return taken;
}

}  // namespace allocbench::comb
