#include "simt/cpu/launch.hpp"

#include <algorithm>

namespace simt {

void StallAgreement::enter() {
  const std::lock_guard lock(mutex_);
  ++stuck_;
  ++round_;
}

void StallAgreement::leave() {
  const std::lock_guard lock(mutex_);
  --stuck_;
  ++round_;
}

void StallAgreement::finish() {
  const std::lock_guard lock(mutex_);
  --working_;
  ++round_;
}

std::uint64_t StallAgreement::round() const {
  const std::lock_guard lock(mutex_);
  return stuck_ == working_ ? round_ : 0;
}

bool StallAgreement::confirm(std::uint32_t worker, std::uint64_t round) {
  const std::lock_guard lock(mutex_);
  if (round != round_ || confirmed_[worker] == round) return false;
  confirmed_[worker] = round;
  return static_cast<std::uint32_t>(std::count(confirmed_.begin(), confirmed_.end(), round)) == working_;
}

std::optional<std::uint32_t> Launch::take_block() {
  if (next_block_.load(std::memory_order_relaxed) >= shape.blocks) return std::nullopt;
  const std::uint32_t block = next_block_.fetch_add(1, std::memory_order_relaxed);
  if (block >= shape.blocks) return std::nullopt;
  return block;
}

std::uint32_t Launch::blocks_not_started() const {
  return shape.blocks - std::min(shape.blocks, next_block_.load(std::memory_order_relaxed));
}

std::uint64_t Launch::take_steps(std::uint64_t steps) {
  std::uint64_t left = budget_left_.load(std::memory_order_relaxed);
  while (left != 0) {
    const std::uint64_t granted = std::min(left, steps);
    if (budget_left_.compare_exchange_weak(left, left - granted, std::memory_order_relaxed)) return granted;
  }
  return 0;
}

void Launch::abandon(FaultKind kind, const std::string& text) {
  const std::lock_guard lock(fault_mutex_);
  if (!fault_) fault_.emplace(kind, text);
  abandoned_.store(true, std::memory_order_release);
}

void Launch::throw_if_abandoned() const {
  if (fault_) throw *fault_;
}

}  // namespace simt
