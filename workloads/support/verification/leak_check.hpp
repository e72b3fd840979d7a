// The leak check tests that the pool serves the same requests again after everything was freed.
//
// In each round all callers allocate, then all free. A first check uses at most 1,024 of the cell's callers, or fewer
// if these would request more than 4 MiB. If the time suffices, a second check uses up to 16,384 callers. The rounds
// end when twice the pool has been requested, but not before sixteen rounds. If the time budget ends earlier, the
// verdict is "partial". An allocator that loses freed memory fails.
//
// The pool of a cell is usually too large for this check. So the rounds run on a small second instance with the bytes
// of eight rounds, rounded up to 64 KiB. If the design cannot serve the first round from this instance, the check tries
// larger instances, each 8 times as large as the one before. If no instance below the size of the cell's own allocator
// serves the round, the check uses that allocator. The result of a second instance is kept for other cells of the
// allocator with the same requests (findings.hpp).
//
// After a first round without nulls, nulls of later rounds are a leak if they persist and are also many or become more.
// All other nulls of later rounds count as refusals: a free piece may be too small for a request, or a search may give
// up early. The result includes their number.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/device_sizes.hpp"
#include "workloads/support/verification/findings.hpp"
#include "workloads/support/verification/leak_result.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {

class LeakCheck {
 public:
  // A design in the device heap has only the cell's own instance. Requests for twice its bytes can take much longer
  // than this budget.
  static constexpr std::chrono::milliseconds default_budget{50};

  LeakCheck(simt::Stream& stream, const RequestProfile& profile, const RunSetting& setting, LeakFindings& findings,
            std::chrono::milliseconds budget = default_budget);

  // `own` is the allocator of the cell, without blocks. Throws CellFailure for a leak or a broken invariant.
  LeakResult run(const AllocatorHandle& own);

 private:
  // Runs `check` with the requests of few callers. If this run was complete and the budget probably suffices, runs it
  // again with up to 16,384 callers. Returns the second result if the second run was complete, otherwise the first.
  std::optional<LeakResult> by_few_then_many(const std::function<std::optional<LeakResult>()>& check);
  std::optional<LeakResult> growing();
  // Returns nothing if this pool cannot serve the first round or the device has no memory for it.
  std::optional<LeakResult> on_second_instance(std::size_t pool_bytes);
  std::optional<LeakResult> rounds(const AllocatorHandle& bare, std::size_t pool_bytes);
  struct Nulls {
    std::uint64_t all = 0;
    std::uint64_t most = 0;  // most nulls of one round
  };
  // Decides whether nulls are a leak, after `done` rounds. The `first` nulls are those of the last rounds that were
  // launched together; earlier rounds had none.
  LeakResult judge(const AllocatorHandle& allocator, std::size_t pool_bytes, std::uint64_t done, const Nulls& first);
  Nulls several_rounds(const AllocatorHandle& allocator, std::uint32_t rounds);

  simt::Stream& stream_;
  RunSetting setting_;
  simt::DeadlineView deadline_;  // deadline of the cell's allocator
  LeakFindings& findings_;
  std::chrono::milliseconds budget_;
  RequestProfile profile_;
  std::size_t instance_bytes_ = 0;  // pool of the second instance that gave the result
  // The second instance has this factor times the bytes of eight rounds. The factor depends on the design, not on the
  // callers.
  std::size_t growth_ = 1;
  std::chrono::duration<double> round_time_{};  // time per round in the last rounds
  DeviceSizes sizes_;
  std::optional<RecordedPointers> results_;
};

}  // namespace allocbench
