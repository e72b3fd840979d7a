// WorkloadRig is a workload with an allocator. It samples the workload as a worker does.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/workloads/allocator_rig.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/verification/content_check.hpp"

namespace allocbench::test {

// `Lists` are the kernel lists that W launches.
template <class W, class A, class... Lists>
class WorkloadRig : public AllocatorRig {
 public:
  explicit WorkloadRig(const typename W::Parameters& parameters, std::size_t pool_bytes = 1 << 20,
                       const typename A::Parameters& allocator_parameters = {}, std::uint64_t seed = 7,
                       std::uint32_t sms = 4)
      : AllocatorRig(tested_type<A, Lists...>(), pool_bytes, parameter_values(allocator_parameters), seed, sms),
        run(W::open(parameters, setting, stream())),
        timer(std::in_place, stream()),
        pointers(rules) {}

  // Runs one repetition and its checks. Returns the mistakes, or an empty text.
  std::string sample() { return sample(allocator); }
  // Runs one repetition with the adaptors of the verification passes. Checks the contents of blocks, too.
  std::string observed_sample() {
    const ContentCheck contents(stream(), run->mallocs_at_most(), rules);
    const std::string problem = sample(allocator.observed({}, contents.ledger()));
    const std::string content_problem = contents.problem();
    return content_problem.empty() ? problem : content_problem;
  }
  std::string sample(const AllocatorHandle& caller) {
    timer.emplace(stream());
    pointers = PointerCheck(rules);
    run->prepare();
    run->sample(caller, *timer);
    try {
      run->check_recorded(pointers);
    } catch (const CellFailure& failure) {
      return failure.what();
    }
    if (!pointers.ok()) return pointers.problem();
    if (pointers.nulls() != 0) return std::to_string(pointers.nulls()) + " nulls";
    return allocator.broken_invariant(stream());
  }

  // Returns the operations of a phase in the last sample.
  std::uint64_t operations(std::string_view phase) const {
    for (const Phase& each : timer->phases()) {
      if (each.name == phase) return each.operations;
    }
    throw std::out_of_range("no phase " + std::string(phase));
  }
  double value(std::string_view counter) const {
    for (const auto& [name, value] : timer->counters()) {
      if (name == counter) return value;
    }
    throw std::out_of_range("no counter " + std::string(counter));
  }
  std::uint64_t counter(std::string_view name) const { return static_cast<std::uint64_t>(value(name)); }

  std::unique_ptr<WorkloadRun> run;
  std::optional<PhaseTimer> timer;
  PointerCheck pointers;
};

}  // namespace allocbench::test
