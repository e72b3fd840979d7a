// Walk gives the positions of a search: uniform random numbers from a counter-based generator.
//
// The generator is Philox2x32 with 7 rounds from Random123 (Salmon et al., SC'11: passes BigCrush). It keeps no state
// in memory: its counter is (thread, time of the call + step), and its key is a parameter. On the CPU executor, the
// time counts the executor's steps, so a seed repeats a run. A product scales all 64 bits to the range, so all
// positions are almost equally likely, whatever their number.
#pragma once

// Without this macro Random123 includes all x86 intrinsics, which add considerably to the compile time of each unit
// with nvcc.
#if !defined(R123_USE_SSE)
#define R123_USE_SSE 0
#endif
#include <Random123/philox.h>

#include "simt/simt.hpp"

namespace allocbench::random_walk {

class Walk {
 public:
  // Makes a walk of the calling thread.
  template <class Thread>
  SIMT_FN Walk(Thread& thread, std::uint32_t seed)
      : seed_(seed), thread_(thread.rank_in_grid()), time_(static_cast<std::uint32_t>(thread.clock())) {}

  // Makes a common walk of the group, with the same positions for all members.
  template <class Thread, class Group>
  SIMT_FN Walk(Thread& thread, const Group& group, std::uint32_t seed)
      : seed_(seed),
        thread_(thread.rank_in_grid() - thread.lane() + group.leader_lane()),
        time_(group.broadcast(static_cast<std::uint32_t>(thread.clock()))) {}

  // Returns a uniform random number in [0, positions).
  SIMT_FN std::uint32_t next(std::uint32_t positions) {
    using Philox = r123::Philox2x32_R<7>;
    const Philox::ctr_type counter = {{thread_, time_++}};
    const Philox::key_type key = {{seed_}};
    const Philox::ctr_type random = Philox{}(counter, key);
    return static_cast<std::uint32_t>(
        simt::multiply_high(std::uint64_t{random[0]} << 32 | random[1], std::uint64_t{positions}));
  }

 private:
  std::uint32_t seed_;
  std::uint32_t thread_;
  std::uint32_t time_;
};

}  // namespace allocbench::random_walk
