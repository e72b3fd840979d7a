// A strategy that brings two lanes to the same word at the same time: RaceFuzzer (Sen, PLDI 2008, section 2) for
// atomics instead of data races.
//
// It postpones an access now and then: the lane waits until another lane is about to access the same word. Then one of
// the two, drawn at random, goes first, and the strategy may postpone the other one again. So a lane that looks and
// then decides, or adds and then exchanges, meets the other one between its two accesses. Such a bug needs a lane that
// waits for long at one access and another one that is interrupted at one access: random switching finds it in one of
// thousands of schedules.
//
// Differs from the paper: no pairs of places are known before, so any access may be postponed, of two lanes at a time;
// a lane goes on when no other can, and now and then without a reason, sooner where others spin.
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
  // Of the lanes for which `wanted` holds; the number of lanes where there is none.
  template <class Wanted>
  std::size_t any_of(std::span<Lane* const> runnable, Wanted wanted);

  Random random_;
  std::uint32_t interval_;  // one of so many accesses is postponed
};

}  // namespace simt
