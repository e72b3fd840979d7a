#include "workloads/verification/pointer_check.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace allocbench {
namespace {

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

void PointerCheck::check(std::span<const RecordedBlock> blocks, Live live) {
  for (const RecordedBlock& block : blocks) check_one(block);
  if (live == Live::together) check_overlap_only(blocks);
}

void PointerCheck::check_one(const RecordedBlock& block) {
  ++blocks_;
  bytes_requested_ += block.bytes;
  if (block.address == 0) {
    ++nulls_;
  } else if (block.address == poisoned_slot) {
    ++unwritten_;
    keep_first("request " + std::to_string(block.request) + " left no result");
  } else if (block.address % rules_.alignment != 0) {
    ++misaligned_;
    keep_first(place(block) + " is not a multiple of " + std::to_string(rules_.alignment));
  } else if (!in_bounds(block)) {
    ++out_of_bounds_;
    keep_first(place(block) + (rules_.pool_end != 0
                                   ? " leaves the pool of " + bytes_text(rules_.pool_end - rules_.pool_begin)
                                   : std::string(" is not in the device heap")));
  }
}

bool PointerCheck::in_bounds(const RecordedBlock& block) const {
  if (rules_.pool_end == 0) {
    return !rules_.in_device_heap || rules_.in_device_heap(reinterpret_cast<const void*>(block.address));
  }
  return block.address >= rules_.pool_begin && block.address <= rules_.pool_end &&
         rules_.pool_end - block.address >= block.bytes;
}

// In address order every block is compared with the one that reaches farthest before it: one sort finds every block
// that overlaps an earlier one.
void PointerCheck::check_overlap_only(std::span<const RecordedBlock> blocks) {
  if (!rules_.check_overlap) return;
  std::vector<RecordedBlock> sorted;
  sorted.reserve(blocks.size());
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(sorted), [&](const RecordedBlock& block) {
    return block.address != 0 && block.address != poisoned_slot && in_bounds(block);
  });
  std::sort(sorted.begin(), sorted.end(), [](const RecordedBlock& a, const RecordedBlock& b) {
    return a.address != b.address ? a.address < b.address : a.request < b.request;
  });
  const RecordedBlock* farthest = nullptr;
  for (const RecordedBlock& block : sorted) {
    // A block of 0 bytes still has an address of its own.
    const std::uint64_t end = block.address + std::max<std::uint64_t>(block.bytes, 1);
    if (farthest != nullptr && block.address < farthest->address + std::max<std::uint64_t>(farthest->bytes, 1)) {
      ++overlapping_;
      keep_first(place(block) + " shares bytes with " + place(*farthest));
    }
    if (farthest == nullptr || end > farthest->address + farthest->bytes) farthest = &block;
  }
}

void PointerCheck::explain_nulls(AskedBlocks wanted, Live live) {
  const std::uint64_t nulls = nulls_ - nulls_seen_;
  nulls_seen_ = nulls_;
  if (rules_.pool_bytes == 0) return;
  const bool frees_nothing = rules_.frees == Frees::never;
  if (frees_nothing || (rules_.frees == Frees::in_bulk && live == Live::separately)) {
    wanted = {blocks_, bytes_requested_ + 15 * blocks_};  // rounded up to 16 they take no more
  }
  const bool fits = rules_.block_bytes == 0 ? wanted.bytes <= rules_.pool_bytes
                                            : wanted.count <= rules_.pool_bytes / rules_.block_bytes;
  if (!fits && live == Live::separately && !frees_nothing) return;
  nulls_explained_ += nulls;
  if (fits) spurious_nulls_ += nulls;
}

std::optional<std::uint64_t> PointerCheck::spurious_nulls() const {
  if (rules_.pool_bytes == 0 || nulls_explained_ != nulls_) return std::nullopt;
  return spurious_nulls_;
}

std::string PointerCheck::place(const RecordedBlock& block) const {
  const bool in_pool = rules_.pool_end != 0 && block.address >= rules_.pool_begin && block.address <= rules_.pool_end;
  return "request " + std::to_string(block.request) + " (" + bytes_text(block.bytes) + " at " +
         (in_pool ? "pool+" + hex(block.address - rules_.pool_begin) : hex(block.address)) + ")";
}

void PointerCheck::keep_first(std::string text) {
  if (first_.empty()) first_ = std::move(text);
}

std::string PointerCheck::problem() const {
  if (ok()) return {};
  std::string kinds;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count != 0) kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(overlapping_, "overlapping");
  add(out_of_bounds_, "out of bounds");
  add(misaligned_, "misaligned");
  add(unwritten_, "unwritten");
  return "wrong pointers (of " + std::to_string(blocks_) + " blocks): " + kinds + "; first: " + first_;
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  std::snprintf(text.data(), text.size(), whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

}  // namespace allocbench
