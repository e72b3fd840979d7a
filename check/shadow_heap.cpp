#include "check/shadow_heap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/model.hpp"

namespace allocbench::check {

bool ShadowHeap::adopt(const std::byte* block, std::size_t bytes, std::uint32_t lane) {
  note("malloc", block, bytes, lane);
  const Blocks::value_type given{block, {bytes, lane, ++mallocs_}};
  if (reinterpret_cast<std::uintptr_t>(block) % rules_.alignment != 0) {
    return fail(fmt::format("misaligned: {} is not a multiple of {}", name(given), rules_.alignment));
  }
  if (bytes >= protocol::least_refused_bytes) {
    return fail(fmt::format("impossible: {} is larger than any heap", name(given)));
  }
  if (rules_.pool_begin != nullptr && (block < rules_.pool_begin || block > rules_.pool_end ||
                                       bytes > static_cast<std::size_t>(rules_.pool_end - block))) {
    return fail(
        fmt::format("outside the pool: {}, pool of {} bytes", name(given), rules_.pool_end - rules_.pool_begin));
  }
  if (!rules_.exclusive) return true;
  const auto after = live_.lower_bound(block);
  if (after != live_.end() && after->first == block) {
    return fail(fmt::format("handed out twice: {} while {} lives", name(given), name(*after)));
  }
  if (after != live_.end() && after->first < block + bytes) {
    return fail(fmt::format("overlap: {} with {}", name(given), name(*after)));
  }
  if (after != live_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second.bytes > block) {
      return fail(fmt::format("overlap: {} with {}", name(given), name(*before)));
    }
  }
  live_.emplace_hint(after, given);
  most_live_ = std::max(most_live_, live_.size());
  return true;
}

bool ShadowHeap::retire(const std::byte* block, std::uint32_t lane) {
  note("free", block, bytes_of(block), lane);
  if (!rules_.exclusive) return true;
  const auto found = live_.find(block);
  if (found == live_.end()) {
    // The models only free blocks from mailboxes. So this error means that the checker is wrong, or that a stray write
    // has changed a mailbox.
    const auto earlier = last_freed_by_.find(block);
    if (earlier != last_freed_by_.end()) {
      return fail(fmt::format("double free: {} by lane {}, first by lane {}", name(block), lane, earlier->second));
    }
    return fail(fmt::format("foreign free: {} by lane {} was never handed out", name(block), lane));
  }
  live_.erase(found);
  last_freed_by_[block] = lane;
  return true;
}

void ShadowHeap::refused(std::size_t bytes, std::uint32_t lane) {
  note("malloc", nullptr, bytes, lane);
  ++refusals_;
}

void ShadowHeap::damaged(const std::byte* block, std::size_t offset, unsigned expected, unsigned found,
                         std::uint32_t lane) {
  const auto live = live_.find(block);
  fail(fmt::format("overwritten: lane {} finds byte {} of {} changed from 0x{:02x} to 0x{:02x}", lane, offset,
                   live == live_.end() ? name(block) : name(*live), expected, found));
}

std::size_t ShadowHeap::bytes_of(const std::byte* block) const {
  const auto found = live_.find(block);
  return found == live_.end() ? 0 : found->second.bytes;
}

std::uint32_t ShadowHeap::serial_of(const std::byte* block) const {
  const auto found = live_.find(block);
  return found == live_.end() ? 0 : found->second.serial;
}

std::string ShadowHeap::last_calls() const {
  std::string text;
  for (const Call& call : calls_) {
    const std::string block = call.block == nullptr ? "null" : name(call.block);
    text += call.call == std::string_view("malloc")
                ? fmt::format("  lane {:3}  malloc({}) = {}\n", call.lane, call.bytes, block)
                : fmt::format("  lane {:3}  {}({}), {} bytes\n", call.lane, call.call, block, call.bytes);
  }
  return text;
}

// Records the first verdict only, because later ones are its consequences.
bool ShadowHeap::fail(std::string text) {
  if (verdict_.empty()) verdict_ = std::move(text);
  return false;
}

void ShadowHeap::note(const char* call, const std::byte* block, std::size_t bytes, std::uint32_t lane) {
  if (calls_.size() == calls_kept) calls_.pop_front();
  calls_.push_back({call, block, bytes, lane});
}

std::string ShadowHeap::name(const std::byte* block) const {
  return rules_.pool_begin == nullptr
             ? fmt::format("{}", static_cast<const void*>(block))
             : fmt::format("pool{:+#x}",
                           reinterpret_cast<std::intptr_t>(block) - reinterpret_cast<std::intptr_t>(rules_.pool_begin));
}

std::string ShadowHeap::name(const Blocks::value_type& block) const {
  return fmt::format("{} ({} bytes, lane {})", name(block.first), block.second.bytes, block.second.owner);
}

}  // namespace allocbench::check
