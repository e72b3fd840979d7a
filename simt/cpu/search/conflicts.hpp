// ConflictsStrategy brings two lanes to the same word at the same time, as RaceFuzzer (Sen, PLDI 2008, section 2) does,
// but for atomics instead of data races.
//
// The strategy occasionally postpones an access: the lane waits until another lane will access the same word. Then one
// of the two, drawn at random, continues, and the other waits. So another lane can run between two accesses of a lane
// that loads and then decides, or adds and then exchanges. A bug at such a place needs one lane that waits for long at
// one access, and another lane that is interrupted at one access. Random switching rarely finds such a bug.
//
// Differs from the paper: No pairs of places are known in advance. So any access may be postponed, and up to two lanes
// wait at a time. A postponed lane continues if no other lane can continue. It also continues after a random time,
// which is shorter if other lanes spin.
#pragma once

#include "simt/cpu/strategy.hpp"

namespace simt {

class ConflictsStrategy final : public Strategy {
 public:
  ConflictsStrategy(std::uint64_t seed, GroupDraw groups);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  std::string description() const override;

 private:
  void resume_one(std::span<Lane* const> runnable);
  std::size_t among_others(std::span<Lane* const> runnable, const Lane* waiting);
  // Returns the index of a random lane that `wanted` accepts, or the number of lanes if it accepts none.
  template <class Wanted>
  std::size_t any_of(std::span<Lane* const> runnable, Wanted wanted);

  Random random_;
  std::uint32_t interval_;  // one of this many accesses is postponed
};

}  // namespace simt
