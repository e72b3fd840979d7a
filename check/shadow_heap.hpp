// The oracle of a check: an exact map of the blocks that callers own.
//
// It sees every malloc after it returned and every free before it begins, so its intervals are certainly live. Two that
// overlap were handed out twice, in any schedule. It runs inside the lanes of a deterministic launch, where no two
// lanes run at once, and does not belong to the program under test: the race build does not instrument it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace allocbench::check {

// What every block must satisfy.
struct BlockRules {
  std::uint32_t alignment = 16;
  const std::byte* pool_begin = nullptr;  // null: blocks live in the device heap, which has no bounds to check
  const std::byte* pool_end = nullptr;
  bool exclusive = true;  // false for designs that hand out unfreed blocks again: only alignment and bounds are judged
};

class ShadowHeap {
 public:
  explicit ShadowHeap(const BlockRules& rules) : rules_(rules) {}

  // `lane` (rank in the grid) got `block`. Returns false when that is wrong; verdict() then says why.
  bool adopt(const std::byte* block, std::size_t bytes, std::uint32_t lane);
  // `lane` is about to free `block`; before that it read the user pattern and found it whole or not.
  bool retire(const std::byte* block, std::uint32_t lane);
  // A null pointer came back.
  void refused(std::size_t bytes, std::uint32_t lane);
  // The pattern of a live block was found damaged at `offset`.
  void damaged(const std::byte* block, std::size_t offset, unsigned expected, unsigned found, std::uint32_t lane);
  // A condition of the model does not hold.
  void complain(std::string text) { verdict_ = std::move(text); }

  // The heap was reset: no block lives.
  void forget_blocks() { live_.clear(); }

  // What callers write into a live block depends on its size and on this number of its malloc; 0 when none lives here.
  std::size_t bytes_of(const std::byte* block) const;
  std::uint32_t serial_of(const std::byte* block) const;
  std::size_t live_blocks() const { return live_.size(); }
  std::size_t mallocs() const { return mallocs_; }
  std::size_t most_live_blocks() const { return most_live_; }
  std::size_t refusals() const { return refusals_; }
  // The first wrong thing in one sentence; empty while all is well.
  const std::string& verdict() const { return verdict_; }
  // The last calls, one line each, oldest first.
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
