// A Group on the CPU executor has the members of simt/cuda/group.hpp, and its operations check their masks.
//
// A group operation is a rendezvous of the lanes in the mask. Misuse ends the launch with Fault(mask_error) and a table
// of the warp. The last argument of every operation is its call site, which callers never pass.
#pragma once

#include <cstring>
#include <type_traits>

#include "simt/bits.hpp"
#include "simt/common.hpp"
#include "simt/cpu/lane.hpp"

namespace simt {

class Group {
 public:
  Group(Lane& lane, LaneMask mask) : lane_(&lane), mask_(mask) {}

  LaneMask mask() const { return mask_; }
  std::uint32_t num_threads() const { return popcount(mask_); }
  std::uint32_t thread_rank() const { return popcount(mask_ & lanes_below()); }
  // The member with rank 0 is the leader.
  bool leader() const { return (mask_ & lanes_below()) == 0; }
  std::uint32_t leader_lane() const { return count_trailing_zeros(mask_); }

  // Returns the same group. Only CUDA needs this function: there, the collectives of the returned group wait for all
  // members even if lanes of another group run the same code (simt/cuda/group.hpp).
  Group apart() const { return *this; }

  // Waits for all members and orders their memory accesses.
  void sync(CallSite site = CallSite::here()) const { meet(Operation::sync, 0, site); }
  LaneMask ballot(bool predicate, CallSite site = CallSite::here()) const {
    return static_cast<LaneMask>(meet(Operation::ballot, predicate, site));
  }
  bool any(bool predicate, CallSite site = CallSite::here()) const {
    return meet(Operation::any, predicate, site) != 0;
  }
  bool all(bool predicate, CallSite site = CallSite::here()) const {
    return meet(Operation::all, predicate, site) != 0;
  }

  // Returns the value of the lane whose index is `lane` modulo 32, as on CUDA.
  template <class T>
  T shfl_lane(T value, std::uint32_t lane, CallSite site = CallSite::here()) const {
    return from_word<T>(lane_->collective(Operation::shfl, mask_, site, to_word(value), lane % warp_size));
  }
  template <class T>
  T shfl(T value, std::uint32_t rank, CallSite site = CallSite::here()) const {
    return from_word<T>(lane_->collective(Operation::shfl, mask_, site, to_word(value), lane_of_rank(rank)));
  }
  template <class T>
  T broadcast(T value, CallSite site = CallSite::here()) const {
    return shfl_lane(value, leader_lane(), site);
  }

  // Returns the group of the members whose key equals the caller's. T is an integer of 32 or 64 bits.
  template <class T>
  Group match_any(T key, CallSite site = CallSite::here()) const {
    static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    return Group(*lane_, static_cast<LaneMask>(meet(Operation::match_any, to_word(key), site)));
  }
  // Returns the group of the members whose predicate equals the caller's.
  Group partition(bool predicate, CallSite site = CallSite::here()) const {
    const LaneMask yes = ballot(predicate, site);
    return Group(*lane_, predicate ? yes : mask_ & ~yes);
  }

  std::uint32_t reduce_add(std::uint32_t value, CallSite site = CallSite::here()) const {
    return static_cast<std::uint32_t>(meet(Operation::reduce_add, value, site));
  }
  std::uint32_t reduce_max(std::uint32_t value, CallSite site = CallSite::here()) const {
    return static_cast<std::uint32_t>(meet(Operation::reduce_max, value, site));
  }
  // Returns the sum of the values of the members with a lower rank. An overflow wraps around.
  template <class T>
  T exclusive_sum(T value, CallSite site = CallSite::here()) const {
    static_assert(std::is_integral_v<T>);
    return static_cast<T>(meet(Operation::exclusive_sum, static_cast<std::uint64_t>(value), site));
  }

 private:
  template <class T>
  static std::uint64_t to_word(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
  }
  template <class T>
  static T from_word(std::uint64_t word) {
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  std::uint64_t meet(Operation operation, std::uint64_t value, CallSite site) const {
    return lane_->collective(operation, mask_, site, value);
  }
  LaneMask lanes_below() const { return lane_->bit() - 1; }
  // Returns the lane of the member with this rank, or a number above 31 if there is none.
  std::uint32_t lane_of_rank(std::uint32_t rank) const {
    LaneMask rest = mask_;
    for (std::uint32_t skipped = 0; skipped < rank && rest != 0; ++skipped) rest &= rest - 1;
    return count_trailing_zeros(rest);
  }

  Lane* lane_;
  LaneMask mask_;
};

}  // namespace simt
