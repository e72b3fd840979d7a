// The reset check tests that after reset() a full pool serves as much as a new one, and that free(null) changes
// nothing. Cells of an allocator with the same parameters and number of calling lanes per warp share a result, whatever
// their workload is.
//
// Draining the pool of a cell would take too long. So a small second instance is drained. Its pool has 256 KiB, or the
// size of the cell's pool if that is smaller. If the design cannot use this pool, the next one is four times as large,
// up to the cell's pool. The second instance is drained in at most 8,192 blocks, each of 1/512 of the pool, or smaller
// if the design limits its requests. The result holds for all pools that are at least as large (findings.hpp). With the
// cell's own allocator, the check only tests free(null) while some blocks are in use. If the design frees in bulk, this
// test is left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocators/support/contract/arena.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/findings.hpp"
#include "workloads/support/verification/pointer_check.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {

class ResetCheck {
 public:
  // `own` are the rules for the pointers of the cell's allocator. `lanes_per_warp` is that of the cell, because some
  // designs are measured with only one calling lane per warp. `findings` are the findings of the process.
  ResetCheck(simt::Stream& stream, const RunSetting& setting, PointerRules own, std::uint32_t lanes_per_warp,
             ResetFindings& findings);

  // Runs the check. `own` is the allocator of the cell. This allocator has no blocks in use before and after the call,
  // but it is not fresh afterwards. Returns "checked: ...", "partial: ..." (the time budget ended) or "waived: ...".
  // Throws CellFailure for a broken reset() or free(null).
  std::string run(const AllocatorHandle& own);

 private:
  // An allocator with its own pool.
  struct Small {
    Small(const RunSetting& setting, simt::Stream& stream, std::size_t pool_bytes, const simt::DeadlineView& deadline);
    Arena arena;
    AllocatorHandle allocator;
    PointerRules rules;
  };
  using Blocks = std::vector<RecordedBlock>;

  // Checks reset() and free(null) on a second instance with this pool. Returns the verdict, or nullopt if the design
  // cannot use this pool or the device has no memory for it.
  std::optional<std::string> on_second_instance(std::size_t pool_bytes);
  // Returns the smallest number of blocks that any of several new instances serves.
  std::size_t least_served_by_new(std::size_t pool_bytes);
  // Checks that after `prepare` the pool serves as much as a new one, or at most a quarter less if new pools differ.
  // `from_new` is the number of blocks that a new pool serves, and becomes the smallest such number.
  template <class Prepare>
  void require_all(Small& small, std::size_t& from_new, const std::string& after, Prepare&& prepare);
  // Checks free(null) on a full pool of a design that does not free in bulk.
  void require_nulls_ignored(const Small& small, std::size_t from_new);
  // Takes blocks until none is left or the limit is reached: first with many threads, then with few, then with a single
  // lane (a warp if all lanes must call together). A search of a full pool takes long. So `expected`, the number of
  // blocks that the pool served earlier, keeps the number of failing calls small.
  Blocks drain(const AllocatorHandle& allocator, std::optional<std::size_t> expected);
  bool out_of_time() const { return std::chrono::steady_clock::now() > budget_ends_; }
  std::size_t one_round(const AllocatorHandle& allocator, const Geometry& geometry, Blocks& blocks);
  void free_every_second(const AllocatorHandle& allocator, const Blocks& blocks, std::size_t begin);
  void free_nulls(const AllocatorHandle& allocator);
  // Checks the blocks, which are all in use together.
  static void require_right(const Blocks& blocks, const PointerRules& rules, const std::string& when);
  void free_nulls_of(const AllocatorHandle& own);

  simt::Stream& stream_;
  RunSetting setting_;
  PointerRules own_rules_;
  ResetFindings& findings_;
  std::uint32_t lanes_per_warp_;
  Geometry crowd_;
  Geometry few_;
  std::chrono::steady_clock::time_point budget_ends_;
  simt::DeadlineView deadline_;  // deadline of the cell's allocator
  std::uint64_t request_bytes_ = 0;
  RecordedPointers slots_;
};

}  // namespace allocbench
