#include "workloads/support/verification/pointer_check.hpp"

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

// Compares every block, in address order, with the earlier block that ends last. So one sort finds every block that
// overlaps an earlier one.
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
    // A block of 0 bytes still has its own address.
    const std::uint64_t end = block.address + std::max<std::uint64_t>(block.bytes, 1);
    if (farthest != nullptr && block.address < farthest->address + std::max<std::uint64_t>(farthest->bytes, 1)) {
      ++overlapping_;
      keep_first(place(block) + " shares bytes with " + place(*farthest));
    }
    if (farthest == nullptr || end > farthest->address + farthest->bytes) farthest = &block;
  }
}

void PointerCheck::explain_nulls(AskedBlocks wanted, Live live, std::optional<std::uint64_t> requests) {
  const std::uint64_t nulls = nulls_ - nulls_seen_;
  const std::uint64_t asked = requests.value_or(blocks_ - blocks_seen_);
  const std::uint64_t asked_bytes = bytes_requested_ - bytes_seen_;
  nulls_seen_ = nulls_;
  blocks_seen_ = blocks_;
  bytes_seen_ = bytes_requested_;
  if (rules_.pool_bytes == 0) return;
  const bool frees_nothing = rules_.frees == Frees::never;
  if (frees_nothing || (rules_.frees == Frees::in_bulk && live == Live::separately)) {
    wanted = {blocks_, bytes_requested_ + 15 * blocks_};  // upper bound: each request is rounded up to 16
  }
  const std::uint64_t needed = rules_.block_bytes == 0 ? wanted.bytes : wanted.count * rules_.block_bytes;
  const bool fits = needed <= rules_.pool_bytes;
  if (!fits && live == Live::separately && !frees_nothing) return;
  nulls_explained_ += nulls;
  if (!fits) return;
  spurious_nulls_ += nulls;
  const std::uint64_t room = live == Live::separately ? needed : std::min(asked_bytes, needed);
  if (asked != until_null) count_refused(asked, nulls, rules_.pool_bytes - needed + room);
}

void PointerCheck::count_refused(std::uint64_t requests, std::uint64_t nulls, std::uint64_t free_bytes) {
  with_room_ += requests;
  refused_ += nulls;
  if (nulls != 0 && !free_bytes_) free_bytes_ = free_bytes;
}

std::string PointerCheck::refusal(std::uint64_t pool_bytes) const {
  const std::string pool = "a pool of " + bytes_text(pool_bytes);
  if (2 * refused_ > with_room_) {
    return std::to_string(refused_) + " of " + std::to_string(with_room_) + " requests returned null, although " +
           bytes_text(*free_bytes_) + " of " + pool + " was free";
  }
  if (blocks_ == 0 || nulls_ != blocks_) return {};
  return "none of " + std::to_string(blocks_) + " requests got a block; " + bytes_text(bytes_requested_) +
         " asked of " + pool;
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
