// MeasuredCell is a workload bound to an allocator instance. It implements the protocol of a cell: the order of resets,
// warm-ups and samples, the verification, and the texts for failures.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/worker/instance.hpp"
#include "harness/worker/warm_ups.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/occupancy/ageing.hpp"

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
  Verification verify(const VerificationLimits& limits, const StageListener& stages) override;
  Sample sample(const StageListener& stages) override;
  void repeat() override;
  void prepare() override;

 private:
  // Returns whether every pass starts fresh: in the state `fresh`, or if the allocator never frees, because without a
  // reset each pass would take more of the pool.
  bool starts_every_pass_fresh() const {
    return settings_.state == StartState::fresh || instance_.traits().frees == Frees::never;
  }
  bool starts_fresh() const { return starts_every_pass_fresh() || instance_.last_user != this; }
  // Returns whether blocks may be compared with each other. If the allocator reuses blocks that were not freed, the
  // result is true only if all requests of a sample fit into the pool.
  bool overlap_is_defined() const;

  // Makes the allocator new, if that is possible in this process.
  void reset_allocator() { instance_.reset(leaves_device_heap_alone_); }
  // Brings the heap into the state from which samples start.
  void begin();
  // Prepares a repetition: calls begin() if starts_fresh(), prepares the workload, and flushes the L2 cache if the
  // cell's settings demand this.
  void make_ready();
  // Makes a repetition. A repetition of less than `least_seconds` is not checked, and its sample has only its time.
  Sample repetition(std::string_view name, double least_seconds, const StageListener& listener);
  // Returns a listener that waits until the earlier work is done, and then reports the stage to `listener`.
  StageListener when_idle(const StageListener& listener) const;
  // Returns the allocator for samples. Its handle may tell the workload that a reset follows. Verification does not use
  // this handle.
  AllocatorHandle timed_allocator() const;
  struct VerifiedStage {
    Stage stage;
    Part part;
    std::string Verification::*verdict;
  };
  // Stores the result of check(found) if all calls return in time. Otherwise the verdict states that they did not. The
  // check does not run if calls of an earlier stage ended half-way and only a new process makes the allocator new.
  template <class Check>
  void verify_stage(const VerifiedStage& stage, std::optional<double> seconds, Verification& result, Check&& check);
  void check_contents(std::optional<double> seconds, Verification& result);
  // Returns whether all passes of check_filled_blocks() will probably take longer than `seconds`, estimated from the
  // last sample. Returns false if there was no sample.
  bool passes_take_longer_than(double seconds) const;
  void check_own_blocks(Verification& result);
  // Makes one more pass from the initial state of samples. Writes the calls of this pass as a trace into the folder
  // `limits.trace`.
  void record_trace(const VerificationLimits& limits, Verification& result);
  void check_blocks_of_few(Verification& result);
  void check_leaks(const RequestProfile& requests, Verification& result);
  // Runs the observed passes, from the initial state of samples. The first one checks the contents of the blocks.
  // `counted_passes` passes count steps. If the heap is not reset between passes, `warmups` passes without counts come
  // before them.
  void check_filled_blocks(Verification& result);
  void check_contents_of(const CallLedger& calls, bool judged, Verification& result, PhaseTimer& untimed);
  PointerRules rules() const;
  PointerCheck check_pointers() const;
  void check_invariants() const;

  Instance& instance_;
  RunSetting setting_;
  protocol::CellSettings settings_;
  WorkloadTraits workload_;
  std::unique_ptr<WorkloadRun> run_;
  std::optional<Ageing> ageing_;  // ageing of the heap, for state `aged`
  WarmUps warm_ups_left_;
  // Results of the last checked repetition.
  struct Judged {
    std::uint64_t null_returns;
    std::uint64_t blocks;
    double wall_seconds;
  };
  std::optional<Judged> judged_;
  bool leaves_device_heap_alone_;
};

}  // namespace allocbench::worker
