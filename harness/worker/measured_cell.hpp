// MeasuredCell: a workload bound to an allocator instance, with everything the protocol asks of a cell: order of
// resets, warm-ups and samples, the verification passes, and the words for what went wrong.
#pragma once

#include <optional>
#include <string_view>

#include "harness/worker/instance.hpp"
#include "harness/worker/warm_ups.hpp"
#include "workloads/common/ageing.hpp"
#include "workloads/contract/outcome.hpp"

namespace allocbench::worker {

class MeasuredCell final : public Cell {
 public:
  MeasuredCell(Instance& instance, const RunSetting& setting, const CellRequest& request,
               const WorkloadTraits& workload, std::unique_ptr<WorkloadRun> run);
  ~MeasuredCell() override;
  MeasuredCell(const MeasuredCell&) = delete;
  MeasuredCell& operator=(const MeasuredCell&) = delete;

  std::vector<KernelInfo> kernels() const override { return run_->kernels(); }
  bool uses_device_heap() const override { return !leaves_device_heap_alone_; }
  Verification verify(std::optional<double> seconds) override;
  Sample sample() override;
  void repeat() override;
  void prepare() override;

 private:
  // An allocator that never frees has no state worth reusing: it would only run out.
  bool starts_every_pass_fresh() const {
    return state_ == StartState::fresh || instance_.traits().frees == Frees::never;
  }
  bool starts_fresh() const { return starts_every_pass_fresh() || instance_.last_user != this; }
  // Blocks may be judged against each other while all requests since the reset fit the pool once.
  bool overlap_is_defined() const;

  // As new, as far as this process can.
  void reset_allocator() { instance_.reset(leaves_device_heap_alone_); }
  // Brings the heap into the state that samples start from.
  void begin();
  // That, and what records a sample.
  void make_ready();
  // One that takes less than `least_seconds` is not looked at, and has only its time.
  Sample repetition(std::string_view name, double least_seconds);
  // What the phases took, and what the pointers say that they recorded.
  Sample sample_of(PhaseTimer& timer, const PointerCheck& check) const;
  // For samples, not for verification.
  AllocatorHandle timed_allocator() const;
  Verification verify_all();
  // After the work of a stage: its calls came back in time.
  void fail_if_late();
  void check_contents(Verification& result);
  // The first pass checks the contents of the blocks; it and those that may follow it count steps, from the state that
  // samples start from.
  void check_filled_blocks(Verification& result, PhaseTimer& untimed);
  void check_contents_of(const CallLedger& calls, bool judged, Verification& result, PhaseTimer& untimed);
  PointerRules rules() const;
  PointerCheck check_pointers() const;
  void check_invariants() const;

  Instance& instance_;
  RunSetting setting_;
  StartState state_;
  bool flushes_l2_;
  std::uint32_t warmups_;
  std::uint32_t counted_passes_;
  WorkloadTraits workload_;
  std::unique_ptr<WorkloadRun> run_;
  std::optional<Ageing> ageing_;  // of state aged
  WarmUps warm_ups_left_;
  bool leaves_device_heap_alone_;
};

}  // namespace allocbench::worker
