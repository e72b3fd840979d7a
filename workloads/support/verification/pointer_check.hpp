// PointerCheck checks the pointers that timed kernels recorded. It is host code that does not depend on devices, and it
// runs after timing.
//
// A stale pointer is as wrong as an overlap: both appear as two live blocks that share bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocators/support/contract/traits.hpp"
#include "workloads/support/verification/poison.hpp"

namespace allocbench {

// Rules for every returned pointer.
struct PointerRules {
  std::uint64_t pool_begin = 0;
  std::uint64_t pool_end = 0;  // end of the pool; 0: there is no pool, and `in_device_heap` decides
  std::function<bool(const void*)> in_device_heap;
  std::uint32_t alignment = 16;
  // False if the allocator may reuse blocks that were not freed.
  bool check_overlap = true;
  // Facts for the judgement of nulls. All blocks share `pool_bytes` (0: unknown), and every block takes `block_bytes`
  // (0: the design states no size).
  std::uint64_t pool_bytes = 0;
  std::uint64_t block_bytes = 0;
  Frees frees = Frees::individually;
};

// Number of blocks and their requested bytes, each request rounded up to the project's alignment of 16.
struct AskedBlocks {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t request) {
    ++count;
    bytes += room_of(request);
  }
  void take(std::uint64_t request) {
    --count;
    bytes -= room_of(request);
  }

 private:
  static std::uint64_t room_of(std::uint64_t request) { return (request + 15) / 16 * 16; }
};

// One recorded result of malloc.
struct RecordedBlock {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t request;  // index for the report, made of caller and iteration
};

class PointerCheck {
 public:
  enum class Live { together, separately };
  // Value for `requests` of explain_nulls() if kernels make requests until one is refused. Their nulls only mark the
  // end.
  static constexpr std::uint64_t until_null = 0;

  explicit PointerCheck(PointerRules rules) : rules_(std::move(rules)) {}

  // Checks one set of blocks. With Live::together no two of them may share a byte.
  void check(std::span<const RecordedBlock> blocks, Live live);
  const PointerRules& rules() const { return rules_; }
  // Raises the required alignment to this one for all blocks that are checked later. A smaller value changes nothing.
  void require_alignment(std::uint32_t alignment) { rules_.alignment = std::max(rules_.alignment, alignment); }
  // Adds requests that were checked elsewhere: their number, the number of nulls, and their bytes.
  void add_right(std::uint64_t requests, std::uint64_t nulls, std::uint64_t bytes) {
    blocks_ += requests;
    nulls_ += nulls;
    bytes_requested_ += bytes;
  }
  // Determines the cause of the nulls since the last call, if the size of the pool is known. `wanted` counts the blocks
  // that would be in use at the end of the kernel if every request were served, including earlier blocks. If `wanted`
  // fits into the pool, the nulls are spurious; otherwise the pool was exhausted. If `wanted` does not fit but the
  // blocks are not all in use together (Live::separately), the cause is unknown, unless the design never frees. All
  // requests so far replace `wanted` if the design never frees, or if it frees in bulk and the blocks are not all in
  // use together. `requests` is the number of requests of the kernel if not all were checked, or until_null.
  void explain_nulls(AskedBlocks wanted, Live live, std::optional<std::uint64_t> requests = {});
  // Adds requests that all had room, and the number of nulls among them.
  void count_refused(std::uint64_t requests, std::uint64_t nulls, std::uint64_t free_bytes);
  // Does only the overlap check of Live::together, for blocks that were already checked one by one.
  void check_overlap_only(std::span<const RecordedBlock> blocks);

  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t nulls() const { return nulls_; }
  // Returns the number of spurious nulls, or nothing if the size of the pool or the cause of a null is unknown.
  std::optional<std::uint64_t> spurious_nulls() const;
  // Returns why too few requests were served for a measurement, or an empty text. Either no request got a block, or
  // more than half of the requests with room got none. `pool_bytes` is for the text.
  std::string refusal(std::uint64_t pool_bytes) const;
  // Returns the bytes of all requests, whether they returned null or not.
  std::uint64_t bytes_requested() const { return bytes_requested_; }
  bool ok() const { return unwritten_ + misaligned_ + out_of_bounds_ + overlapping_ == 0; }
  // Returns a text that begins with "wrong pointers (of 960 blocks): 3 overlapping; first: ", or an empty text if ok().
  std::string problem() const;

 private:
  void check_one(const RecordedBlock& block);
  bool in_bounds(const RecordedBlock& block) const;
  std::string place(const RecordedBlock& block) const;
  void keep_first(std::string text);

  PointerRules rules_;
  std::uint64_t blocks_ = 0;
  std::uint64_t nulls_ = 0;
  std::uint64_t spurious_nulls_ = 0;
  std::uint64_t blocks_seen_ = 0;            // blocks that explain_nulls() has handled
  std::uint64_t nulls_seen_ = 0;             // nulls that explain_nulls() has handled
  std::uint64_t bytes_seen_ = 0;             // requested bytes that explain_nulls() has handled
  std::uint64_t nulls_explained_ = 0;        // nulls whose cause is known
  std::uint64_t with_room_ = 0;              // requests that all had room
  std::uint64_t refused_ = 0;                // nulls among the requests that all had room
  std::optional<std::uint64_t> free_bytes_;  // least free bytes before the first refused requests
  std::uint64_t bytes_requested_ = 0;
  std::uint64_t unwritten_ = 0;
  std::uint64_t misaligned_ = 0;
  std::uint64_t out_of_bounds_ = 0;
  std::uint64_t overlapping_ = 0;
  std::string first_;
};

// Returns the bytes in the largest binary unit with a value of at least 1, such as "15 KiB". The text has one decimal
// if the value is not whole.
std::string bytes_text(std::uint64_t bytes);

}  // namespace allocbench
