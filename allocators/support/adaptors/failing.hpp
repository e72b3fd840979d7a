// Failing<A> is the allocator A, but each malloc returns null with a given probability instead of calling A.
//
// The adaptor tests whether callers can handle null. It also tests whether an allocator can handle frees of null, and
// warps in which some lanes do not call. The rule, the thread and the number of the thread's malloc since attach()
// decide whether a malloc is refused, so the host can compute the answer, too.
#pragma once

#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

struct FailureRule {
  std::uint32_t threshold = 0;  // probability of a refusal in units of 2^-32; 0 refuses nothing
  std::uint32_t seed = 0;

  static FailureRule with_chance(double chance, std::uint64_t seed) {
    const double scaled = chance * 0x1p32;
    return {scaled >= 4294967295.0 ? 0xffffffffu : static_cast<std::uint32_t>(scaled),
            static_cast<std::uint32_t>(seed ^ seed >> 32)};
  }
  SIMT_HOST_FN bool refuses(std::uint32_t rank_in_grid, std::uint32_t call) const {
    if (threshold == 0) return false;
    std::uint32_t mixed = (rank_in_grid * 0x9e3779b9u ^ seed) + call * 0x85ebca6bu;
    mixed = (mixed ^ mixed >> 16) * 0x7feb352du;
    mixed = (mixed ^ mixed >> 15) * 0x846ca68bu;
    return (mixed ^ mixed >> 16) < threshold;
  }
};

template <class Inner>
class FailingSession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN FailingSession(Inner inner, const FailureRule& rule)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), rule_(rule) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (rule_.refuses(thread.rank_in_grid(), call_++)) return nullptr;
    return inner_.malloc(thread, bytes);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    inner_.free(thread, block);
  }

 private:
  FailureRule rule_;
  std::uint32_t call_ = 0;
};

template <class A>
class Failing {
 public:
  static constexpr Traits traits = A::traits;
  using Parameters = typename A::Parameters;

  Failing(const A& inner, const FailureRule& rule) : inner_(inner), rule_(rule) {}

  template <class Thread>
  SIMT_FN auto attach(Thread& thread) {
    return FailingSession<decltype(allocbench::attach(inner_, thread))>(allocbench::attach(inner_, thread), rule_);
  }

  const A& inner() const { return inner_; }

 private:
  A inner_;
  FailureRule rule_;
};

}  // namespace allocbench
