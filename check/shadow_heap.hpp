// ShadowHeap is the oracle of a check: an exact map of the blocks of all callers.
//
// The oracle records every malloc after its return and every free before its start, so all recorded blocks are
// certainly live, whatever the schedule is. If two of them overlap, memory was handed out twice. The oracle runs inside
// the lanes of a deterministic launch, where no two lanes run at once. It does not belong to the program under test, so
// the race build does not instrument it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace allocbench::check {

struct BlockRules {
  std::uint32_t alignment = 16;
  // Address of the pool; null if blocks may be outside it, for example in the device heap, whose bounds are unknown.
  const std::byte* pool_begin = nullptr;
  const std::byte* pool_end = nullptr;
  // False for designs that reuse blocks without a free. Then overlaps and frees are not checked.
  bool exclusive = true;
};

class ShadowHeap {
 public:
  explicit ShadowHeap(const BlockRules& rules) : rules_(rules) {}

  // Records that `lane` (its rank among the lanes of all kernels) got `block`. Returns false if the block breaks a
  // rule; verdict() then has the reason.
  bool adopt(const std::byte* block, std::size_t bytes, std::uint32_t lane);
  // Records that `lane` will free `block`. The caller checks the user pattern first. Returns false as adopt() does.
  bool retire(const std::byte* block, std::uint32_t lane);
  // Records that a malloc returned null.
  void refused(std::size_t bytes, std::uint32_t lane);
  // Records that the pattern of a live block is damaged at `offset`.
  void damaged(const std::byte* block, std::size_t offset, unsigned expected, unsigned found, std::uint32_t lane);
  // Records that a condition of the model does not hold. The text replaces an earlier verdict.
  void complain(std::string text) { verdict_ = std::move(text); }

  // Records that the heap was reset, so no block is live.
  void forget_blocks() { live_.clear(); }

  // Returns the size of a live block. serial_of() returns the number of its malloc. Size and number determine the user
  // pattern. Both functions return 0 if no block begins at this address.
  std::size_t bytes_of(const std::byte* block) const;
  std::uint32_t serial_of(const std::byte* block) const;
  std::size_t live_blocks() const { return live_.size(); }
  std::size_t mallocs() const { return mallocs_; }
  std::size_t most_live_blocks() const { return most_live_; }
  std::size_t refusals() const { return refusals_; }
  // Returns the last text of complain(), otherwise the first mistake in one sentence, or an empty text.
  const std::string& verdict() const { return verdict_; }
  // Returns the last calls, one line each, oldest first.
  std::string last_calls() const;

 private:
  struct Block {
    std::size_t bytes;
    std::uint32_t owner;
    std::uint32_t serial;
  };
  using Blocks = std::map<const std::byte*, Block>;

  bool fail(std::string text);
  void note(const char* call, const std::byte* block, std::size_t bytes, std::uint32_t lane);
  std::string name(const std::byte* block) const;
  std::string name(const Blocks::value_type& block) const;

  BlockRules rules_;
  Blocks live_;
  std::map<const std::byte*, std::uint32_t> last_freed_by_;
  std::uint32_t mallocs_ = 0;
  std::size_t most_live_ = 0;
  std::size_t refusals_ = 0;
  std::string verdict_;
  struct Call {
    const char* call;
    const std::byte* block;
    std::size_t bytes;
    std::uint32_t lane;
  };
  static constexpr std::size_t calls_kept = 24;
  std::deque<Call> calls_;
};

}  // namespace allocbench::check
