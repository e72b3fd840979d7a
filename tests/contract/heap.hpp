// Heap is one allocator with a pool, and every block that scripts have got from it. After each script it checks that
// these blocks lie in the pool or the device heap, are aligned, and share no byte. If `touch` is true, it also checks
// that they keep their owners' bytes. In pools below 1 GiB it also checks the design's invariants.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "allocators/support/contract/arena.hpp"
#include "tests/contract/report.hpp"
#include "tests/contract/test_device.hpp"
#include "workloads/support/contract/allocator_handle.hpp"
#include "workloads/support/verification/content_check.hpp"
#include "workloads/support/verification/pointer_check.hpp"
#include "workloads/support/verification/script_kernel.hpp"

namespace allocbench::contract {

// Blocks are the consecutive slots of one malloc call.
struct Blocks {
  std::size_t first = 0;
  std::uint32_t count = 1;
};

// Calls is a grid whose threads make calls in rounds. A grid that frees must have the shape of the grid that allocated,
// because some designs find a thread's state by its place in the grid.
class Calls {
 public:
  Calls(std::uint32_t blocks, std::uint32_t threads_per_block) : shape_{blocks, threads_per_block} { next(); }

  simt::LaunchShape shape() const { return shape_; }
  std::uint32_t threads() const { return shape_.blocks * shape_.threads_per_block; }
  // Begins a round.
  void next() { calls_.resize(calls_.size() + threads()); }
  std::uint32_t rounds() const { return static_cast<std::uint32_t>(calls_.size() / threads()); }
  // Sets the call of `thread` in this round.
  void set(std::uint32_t thread, const ScriptCall& call) { calls_[calls_.size() - threads() + thread] = call; }
  void free_null(std::uint32_t thread) { set(thread, {.verb = ScriptVerb::free_null}); }

  const std::vector<ScriptCall>& list() const { return calls_; }

 private:
  simt::LaunchShape shape_;
  std::vector<ScriptCall> calls_;
};

class Heap {
 public:
  // Throws Unsupported if the design refuses the pool.
  Heap(const AllocatorType& type, std::size_t pool_bytes, Report& report, ParameterValues parameters = {});

  const AllocatorType& type() const { return type_; }
  const Traits& traits() const { return type_.traits; }
  std::size_t pool_bytes() const { return pool_bytes_; }
  std::size_t max_request() const { return type_.functions.max_request(pool_bytes_, parameters_); }

  // Lets `thread` request `count` blocks in the current round of `calls`. Returns their slots.
  Blocks malloc(Calls& calls, std::uint32_t thread, std::uint64_t bytes, std::uint32_t count = 1);
  // Lets `thread` free these blocks. Any thread of a grid of the shape that allocated may free them.
  void free(Calls& calls, std::uint32_t thread, Blocks blocks);
  // If `touch` is false, bytes of blocks are neither written nor compared. Set it to false for large sets of blocks.
  bool touch = true;
  // Lets the Checked adaptor write and compare the bytes instead, for at most `mallocs` mallocs. Call it before the
  // first malloc.
  void check_contents(std::uint64_t mallocs);

  // Makes the calls and checks their results.
  void run(const Calls& calls);

  // Returns the number of requests since the heap was fresh or emptied. Their slots are 0 to requests() - 1.
  std::uint32_t requests() const { return static_cast<std::uint32_t>(slots_.size()); }
  bool served(std::size_t slot) const { return slots_[slot].address != 0; }
  std::uint32_t served(Blocks blocks) const;
  std::uint32_t live() const;
  // Returns each size of which a request got null, once.
  std::vector<std::uint64_t> refused_sizes() const;
  // Returns how many bytes of the pool are not in the device heap.
  std::size_t arena_bytes() { return arena_->pool().bytes; }
  // Returns the bytes in which blocks can lie: the arena's part of the pool, and the whole device heap if the design
  // uses it.
  std::size_t memory_bytes();
  // Returns whether a served block is not in the device heap.
  bool in_pool(std::size_t slot) const;
  // Returns the distance of a served block from the first byte of the pool.
  std::uint64_t offset(std::size_t slot) const { return slots_[slot].address - pool_begin_; }

  // Lets every thread free its blocks, or release its session if the design frees in bulk.
  void free_all();
  // Makes the heap fresh by reset() or on a new device. If neither is possible, frees all blocks.
  void refresh();
  bool can_refresh() const { return traits().fresh == Fresh::by_reset || devices_are_fresh; }
  // Requires the trait Fresh::by_reset.
  void reset();

 private:
  struct Slot {
    std::uint64_t address = 0;  // 0: not served
    std::uint64_t bytes = 0;
    std::pair<std::uint32_t, std::uint32_t> shape;
    std::uint32_t thread = 0;
    bool live = false;
  };

  void open();
  void launch(const Calls& calls);
  void check();
  void note_frees(const Calls& calls);

  const AllocatorType& type_;
  std::size_t pool_bytes_;
  Report& report_;
  ParameterValues parameters_;
  std::optional<TestDevice> device_;
  std::optional<Arena> arena_;
  std::optional<AllocatorHandle> allocator_;
  PointerRules rules_;
  std::optional<ContentCheck> contents_;
  std::uint64_t pool_begin_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace allocbench::contract
