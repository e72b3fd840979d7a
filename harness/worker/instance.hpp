// Instance is an allocator with its memory, which all cells of this allocator in a batch share. Each back end compiles
// this file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "allocators/support/contract/arena.hpp"
#include "harness/worker/process_state.hpp"
#include "harness/worker/registry.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench::worker {

class Instance final : public AllocatorInstance {
 public:
  Instance(const AllocatorType& type, simt::Stream& stream, std::size_t pool_bytes, const ParameterValues& parameters,
           ProcessState& process);

  std::size_t pool_bytes() const override { return setting_.pool_bytes; }
  std::size_t metadata_bytes() const override { return arena_->metadata_bytes(); }
  double init_seconds() const override { return init_seconds_; }
  std::unique_ptr<Cell> open(const CellRequest& request) override;

  // The functions below are for the instance's cells.
  simt::Stream& stream() const { return stream_; }
  const AllocatorHandle& handle() const { return *handle_; }
  const Traits& traits() const { return setting_.traits(); }
  TimeShares& shares() const { return process_.shares; }
  LeakFindings& leak_findings() const { return process_.leak_findings; }
  // Returns the deadline of verification. Only calls through AllocatorHandle::observed() obey it.
  simt::Deadline& deadline() { return deadline_; }
  // Waits for the device. Throws CellFailure (timeout) if calls ended half-way, because all findings are then invalid.
  void fail_if_late();
  // Allocates memory for flush_l2(). Throws CellFailure if the back end has no L2 cache.
  void prepare_to_flush_l2();
  // Enqueues a write of twice the size of the L2 cache on the stream, so that no data of the allocator is left in the
  // cache.
  void flush_l2();
  // Makes the allocator new, if this is possible in this process. A design without reset() gets a new instance, but
  // only if `without_device_heap` states that later requests do not use the device heap, which no process can reset.
  void reset(bool without_device_heap);
  // Returns the rules for every pointer that a malloc returns.
  PointerRules rules(bool check_overlap) const;
  // Checks reset() and free(null) once, with as many lanes per warp as the first cell uses. The result holds for all
  // cells. If the deadline ends the check, the next cell repeats it. No block may be in use before the check, and the
  // allocator needs a reset after it. Throws CellFailure if the check fails.
  const std::string& check_reset(std::uint32_t lanes_per_warp);

  const void* last_user = nullptr;  // cell that ran last; null after a reset or a failure

 private:
  void create_timed();
  void create();

  simt::Stream& stream_;
  ProcessState& process_;
  simt::Deadline deadline_;
  std::optional<Arena> arena_;
  RunSetting setting_;
  double init_seconds_ = 0;
  std::optional<std::string> reset_verdict_;
  std::optional<CellFailure> reset_failure_;
  std::optional<AllocatorHandle> handle_;
  simt::Buffer<std::byte> over_l2_;
};

}  // namespace allocbench::worker
