// These functions move the end of a pool that grows. The chunks behind the end form one run. This run counts as in use,
// and only a move of the end or a reset changes it. No other kernel may run meanwhile.
#pragma once

#include "allocators/comb/runs.hpp"

namespace allocbench::comb {

// MoveEnd counts chunks from 0. Chunks `begin` to `end` - 1 become free, and the chunks behind them become the run.
struct MoveEnd {
  template <class Thread, class S>
  SIMT_FN void operator()(Thread& thread, S space, std::uint32_t begin, std::uint32_t end) const {
    const std::uint32_t rest = space.chunks - end;
    for (std::uint32_t i = begin + thread.rank_in_grid(); i < space.chunks; i += thread.grid_size()) {
      const auto word = thread.atomic(space.in_use[i / 32]);
      const std::uint32_t bit = 1u << i % 32;
      if (i < end) {
        word.fetch_and(~bit, simt::relaxed);
      } else {
        word.fetch_or(bit, simt::relaxed);
      }
      const std::uint32_t entry = i < end ? free_chunk : i == end ? head_of_run | rest : inside_run;
      thread.atomic(space.table[first_chunk + i]).store(entry, simt::relaxed);
    }
  }
};

struct CountUsed {
  template <class Thread, class S>
  SIMT_FN void operator()(Thread& thread, S space, std::uint32_t more) const {
    thread.atomic(*space.used).fetch_add(more, simt::relaxed);
  }
};

// `begin` is the old end of the pool. For a new heap, which has no run yet, `begin` is the number of all chunks.
template <class S>
void move_end(simt::Stream& stream, const S& space, std::uint32_t begin, std::uint32_t end) {
  const bool is_new = begin == space.chunks;
  simt::launch(stream, {64, 256}, MoveEnd{}, space, is_new ? end : begin, end);
  simt::launch(stream, {1, 1}, CountUsed{}, space, begin - end);  // modulo 2^32
}

}  // namespace allocbench::comb
