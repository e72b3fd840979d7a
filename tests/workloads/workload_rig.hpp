// One workload over one allocator on a CPU device, sampled as the worker does it.
#pragma once

#include <optional>

#include "workloads/contract/outcome.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/verification/pointer_check.hpp"

namespace allocbench::test {

template <class W, class A>
class WorkloadRig {
 public:
  WorkloadRig(const typename W::Parameters& parameters, std::size_t pool_bytes,
              const typename A::Parameters& allocator_parameters = {}, std::uint64_t seed = 7, std::uint32_t sms = 4)
      : device_(options(seed, sms)),
        stream_(device_),
        arena_(stream_, pool_bytes),
        allocator(A::create(arena_, allocator_parameters)),
        run(parameters, {pool_bytes, allocator_parameters, seed}, stream_),
        timer(std::in_place, stream_) {
    rules_.pool_begin = reinterpret_cast<std::uint64_t>(arena_.pool().base);
    rules_.pool_end = rules_.pool_begin + arena_.pool().bytes;
  }

  // One repetition and its checks. What is wrong; empty when nothing is.
  std::string sample() {
    timer.emplace(stream_);
    run.prepare();
    run.sample(allocator, *timer);
    PointerCheck check(rules_);
    try {
      run.check_recorded(check);
    } catch (const CellFailure& failure) {
      return failure.what();
    }
    if (!check.ok()) return check.problem();
    if (check.nulls() != 0) return std::to_string(check.nulls()) + " nulls";
    if constexpr (requires { allocator.broken_invariant(stream_); }) return allocator.broken_invariant(stream_);
    return {};
  }

  simt::Stream& stream() { return stream_; }

  std::uint64_t counter(std::string_view name) const {
    for (const auto& [each, value] : timer->counters()) {
      if (each == name) return static_cast<std::uint64_t>(value);
    }
    throw std::out_of_range("no counter " + std::string(name));
  }

 private:
  static simt::ExecutorOptions options(std::uint64_t seed, std::uint32_t sms) {
    simt::ExecutorOptions result;
    result.mode = simt::ExecutorMode::deterministic;
    result.seed = seed;
    result.sm_count = sms;
    return result;
  }

  simt::Device device_;
  simt::Stream stream_;
  Arena arena_;
  PointerRules rules_;

 public:
  A allocator;
  typename W::template Run<A> run;
  std::optional<PhaseTimer> timer;
};

}  // namespace allocbench::test
