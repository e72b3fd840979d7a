// A Group is a set of lanes of one warp on CUDA. It consists only of its mask, which every operation passes.
//
// Most functions are named as in cooperative groups. Two differences make the machine code equal to that of a
// hand-written kernel. `ballot` returns bits by lane instead of by rank. Besides `shfl` (by rank, as in cooperative
// groups) there are `broadcast` (from the leader) and `shfl_lane` (by lane).
#pragma once

#include "simt/bits.hpp"
#include "simt/common.hpp"

namespace simt {

class Group {
 public:
  SIMT_FN explicit Group(LaneMask mask) : mask_(mask) {}

  SIMT_FN LaneMask mask() const { return mask_; }
  SIMT_FN std::uint32_t num_threads() const { return popcount(mask_); }
  SIMT_FN std::uint32_t thread_rank() const { return popcount(mask_ & lanes_below()); }
  // The member with rank 0 is the leader.
  SIMT_FN bool leader() const { return (mask_ & lanes_below()) == 0; }
  SIMT_FN std::uint32_t leader_lane() const { return count_trailing_zeros(mask_); }

  // Returns the same group with a mask that depends on the lane, for code that two groups of a warp may run at the same
  // time. Before a collective, the machine code compares the mask with the active lanes. For a mask of converged(), and
  // for a match of equal keys, ptxas assumes that the whole warp has the same mask, so the code compares the mask of
  // one lane only. If lanes of two groups arrive together, the group whose mask was not compared continues without its
  // missing members. A mask that depends on the lane is compared in every lane.
  SIMT_FN Group apart() const { return Group(mask_ | lane_bit()); }

  // Waits for all members and orders their memory accesses.
  SIMT_FN void sync() const { __syncwarp(mask_); }
  SIMT_FN LaneMask ballot(bool predicate) const { return __ballot_sync(mask_, predicate); }
  SIMT_FN bool any(bool predicate) const { return __any_sync(mask_, predicate) != 0; }
  SIMT_FN bool all(bool predicate) const { return __all_sync(mask_, predicate) != 0; }

  template <class T>
  SIMT_FN T shfl_lane(T value, std::uint32_t lane) const {
    return __shfl_sync(mask_, value, static_cast<int>(lane));
  }
  template <class T>
  SIMT_FN T shfl(T value, std::uint32_t rank) const {
    return shfl_lane(value, mask_ == full_warp ? rank : __fns(mask_, 0, static_cast<int>(rank) + 1));
  }
  template <class T>
  SIMT_FN T broadcast(T value) const {
    return shfl_lane(value, leader_lane());
  }

  // Returns the group of the members whose key equals the caller's. T is an integer of 32 or 64 bits.
  template <class T>
  SIMT_FN Group match_any(T key) const {
    return Group(__match_any_sync(mask_, key));
  }
  // Returns the group of the members whose predicate equals the caller's.
  SIMT_FN Group partition(bool predicate) const {
    const LaneMask yes = ballot(predicate);
    return Group(predicate ? yes : mask_ & ~yes);
  }

  // Returns the sum of all values. On sm_80 and newer, this takes one instruction. On older GPUs, it takes a vote and
  // one shuffle per member.
  SIMT_FN std::uint32_t reduce_add(std::uint32_t value) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return fold(value, [](std::uint32_t a, std::uint32_t b) { return a + b; });
#else
    return __reduce_add_sync(mask_, value);
#endif
  }
  SIMT_FN std::uint32_t reduce_max(std::uint32_t value) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return fold(value, [](std::uint32_t a, std::uint32_t b) { return a < b ? b : a; });
#else
    return __reduce_max_sync(mask_, value);
#endif
  }

  // Returns the sum of the values of the members with a lower rank. Works for any mask: each lane follows links to its
  // predecessors, and the length of the links doubles in every round.
  template <class T>
  SIMT_FN T exclusive_sum(T value) const {
    const LaneMask present = ballot(true);  // exited lanes are in the mask of a whole warp, but have no value
    const LaneMask below = present & lanes_below();
    const std::uint32_t self = count_trailing_zeros(lane_bit());
    std::uint32_t link = below == 0 ? no_link : 31u - count_leading_zeros(below);
    T sum = value;
    for (std::uint32_t reach = 1; reach < popcount(present); reach *= 2) {
      const std::uint32_t source = link == no_link ? self : link;
      const T earlier = shfl_lane(sum, source);
      const std::uint32_t next_link = shfl_lane(link, source);
      if (link != no_link) {
        sum += earlier;
        link = next_link;
      }
    }
    return sum - value;
  }

 private:
  template <class Combine>
  SIMT_FN std::uint32_t fold(std::uint32_t value, Combine combine) const {
    const LaneMask present = ballot(true);
    std::uint32_t result = shfl_lane(value, count_trailing_zeros(present));
    SIMT_ROLLED
    for (LaneMask rest = present & (present - 1); rest != 0; rest &= rest - 1) {
      result = combine(result, shfl_lane(value, count_trailing_zeros(rest)));
    }
    return result;
  }

  static constexpr std::uint32_t no_link = 0xffffffffu;

  static SIMT_FN LaneMask lanes_below() {
    LaneMask lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    return lanes;
  }
  static SIMT_FN LaneMask lane_bit() {
    LaneMask lane;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(lane));
    return lane;
  }

  LaneMask mask_;
};

}  // namespace simt
