// One sample of a workload on a small pool, and what came of it.
#pragma once

#include <stdexcept>
#include <string>

#include "tests/workloads/cpu_device.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/verification/pointer_check.hpp"

namespace allocbench::test {

inline constexpr std::uint64_t sampling_seed = 11;

struct Sampled {
  std::vector<Phase> phases;
  std::vector<Counter> counters;
  std::uint64_t blocks = 0;
  std::uint64_t nulls = 0;
  std::string problem;  // of the recorded pointers

  std::uint64_t operations(const std::string& phase) const {
    for (const Phase& each : phases) {
      if (each.name == phase) return each.operations;
    }
    throw std::out_of_range("no phase " + phase);
  }
  double counter(const std::string& name) const {
    for (const Counter& each : counters) {
      if (each.first == name) return each.second;
    }
    throw std::out_of_range("no counter " + name);
  }
};

template <class W, class A>
Sampled sampled(const typename W::Parameters& parameters, std::size_t pool_bytes = 1 << 20,
                const typename A::Parameters& allocator_parameters = {}) {
  CpuDevice cpu;
  Arena arena(cpu.stream, pool_bytes);
  const A allocator = A::create(arena, allocator_parameters);
  typename W::template Run<A> run(parameters, {pool_bytes, allocator_parameters, sampling_seed}, cpu.stream);
  PhaseTimer timer(cpu.stream);
  run.prepare();
  run.sample(allocator, timer);
  PointerRules rules;
  rules.pool_begin = reinterpret_cast<std::uint64_t>(arena.pool().base);
  rules.pool_end = rules.pool_begin + arena.pool().bytes;
  PointerCheck check(rules);
  run.check_recorded(check);
  return {timer.phases(), timer.counters(), check.blocks(), check.nulls(), check.problem()};
}

}  // namespace allocbench::test
