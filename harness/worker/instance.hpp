// An allocator instance as its cells see it. Compiled once per back end.
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

  // What follows is for the instance's cells.
  simt::Stream& stream() const { return stream_; }
  const AllocatorHandle& handle() const { return *handle_; }
  const Traits& traits() const { return setting_.traits(); }
  TimeShares& shares() const { return process_.shares; }
  LeakFindings& leak_findings() const { return process_.leak_findings; }
  // Deadline for the calls of observed forms.
  simt::Deadline& deadline() { return deadline_; }
  // Waits for the device. Throws the timeout where calls ended half-way: nothing that was found then counts.
  void fail_if_late();
  // Makes room for flush_l2(). Throws CellFailure where there is no such cache.
  void prepare_to_flush_l2();
  // Writes twice the L2 cache: nothing of the allocator is left in it. Enqueued on the stream.
  void flush_l2();
  // Back to fresh where the design can; a device heap stays as it is until the process ends. `without_device_heap`:
  // later requests never reach it, so a new instance is as good as a new process.
  void reset(bool without_device_heap);
  // What every returned pointer must satisfy.
  PointerRules rules(bool check_overlap) const;
  // reset() and free(null), looked at once, with the calls of the first cell; what was found then holds for all cells.
  // With nothing allocated; leaves the allocator in need of a reset. Throws CellFailure.
  const std::string& check_reset(std::uint32_t lanes_per_warp);

  const void* last_user = nullptr;  // the cell that ran last; null after a reset

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
