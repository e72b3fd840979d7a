// Share is a lane's part of a free chunk that lanes of a warp divide among themselves.
//
// Share is a part of the reworked CMalloc family (side_table_list.hpp). The leader locks the chunk. The lanes take
// blocks of the chunk in the order of their ranks, until it is used up. The rest becomes a free chunk if Algorithm 3
// would split it off; otherwise it stays with the last block.
//
// A walker may still hold the index of a header that an earlier merge absorbed into the chunk. So each header must
// always lead to a header. In the first step, all new headers lead to the chunk's old successor. In the second step,
// after all lanes have written their headers, each header, including that of the chunk, leads to the next block.
#pragma once

#include "allocators/circular_malloc/headers.hpp"

namespace allocbench::circular {

inline constexpr std::uint32_t no_block = 0xffffffffu;

struct Share {
  bool won;             // true for all lanes of the party if it locked the chunk
  std::uint32_t block;  // block of this lane, or no_block
  std::uint32_t rest;   // chunk after the blocks; the successor of the chunk if the party has no lock
};

// Divides the chunk. All lanes of the party pass the same chunk. `need` and `max_fragmentation` are those of
// Algorithm 3.
template <class Thread, class Party, class Header>
SIMT_FN Share share_chunk(Thread& thread, const Party& party, const SideTable<Header>& layout, std::uint32_t chunk,
                          std::uint32_t need, std::uint32_t max_fragmentation) {
  Header& header = layout.header(chunk);
  LockResult lock{};
  if (party.leader()) lock = header.try_lock(thread);
  const bool won = party.broadcast(lock.won);
  const std::uint32_t next = party.broadcast(lock.next);
  party.sync();  // the leader's acquire covers all lanes, because a walk continues at the header at `next`
  if (!won) return {false, no_block, next};

  const std::uint64_t end = party.exclusive_sum(std::uint64_t{need}) + need;
  const bool fits = end <= next - chunk;
  const simt::LaneMask served = party.ballot(fits);  // lanes with the lowest ranks
  if (served == 0) {                                 // another thread has shortened the chunk
    if (party.leader()) header.unlock(thread, next);
    return {false, no_block, next};
  }
  const std::uint32_t last = 31 - simt::count_leading_zeros(served);
  const std::uint32_t block = chunk + static_cast<std::uint32_t>(end) - need;
  std::uint32_t behind = block + need;
  if (thread.lane() == last) {
    const std::uint32_t size = next - block;
    if (need == size || std::uint64_t{need} * max_fragmentation > size) {
      behind = next;
    } else {
      thread.probe(simt::Step::split);
      layout.header(behind).unlock(thread, next);
    }
  }
  if (fits && block != chunk) layout.header(block).link(thread, next);
  const std::uint32_t rest = party.shfl_lane(behind, last);
  party.sync();  // all new headers lead to a header
  if (fits && behind != next) layout.header(block).link(thread, behind);
  return {true, fits ? block : no_block, rest};
}

}  // namespace allocbench::circular
