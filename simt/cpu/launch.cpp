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

void Launch::draw_order() {
  std::vector<std::uint32_t> started(grids.size(), 0);
  order_.reserve(shape.blocks);
  for (std::uint32_t left = shape.blocks; left > 0; --left) {
    std::uint64_t drawn = mix64(seed + left) % left;  // number of one of the blocks that are left
    std::size_t grid = 0;
    while (drawn >= grids[grid].blocks - started[grid]) {
      drawn -= grids[grid].blocks - started[grid];
      ++grid;
    }
    order_.push_back({&grids[grid], started[grid]++});
  }
}

std::uint32_t Launch::blocks_not_started() const {
  return shape.blocks - std::min(shape.blocks, next_block_.load(std::memory_order_relaxed));
}

std::uint64_t Launch::take(std::atomic<std::uint64_t>& left, std::uint64_t steps) {
  std::uint64_t rest = left.load(std::memory_order_relaxed);
  while (rest != 0) {
    const std::uint64_t granted = std::min(rest, steps);
    if (left.compare_exchange_weak(rest, rest - granted, std::memory_order_relaxed)) return granted;
  }
  return 0;
}

FaultKind Launch::out_of_steps(std::string& text) const {
  const bool changed = word_changed_in_grace_.load(std::memory_order_relaxed);
  text = "the launch used its budget of " + std::to_string(options.step_budget) + " steps, and a grace of " +
         std::to_string(grace_steps()) + " steps in which every lane had its turn; ";
  text += changed ? "words still changed: either it never ends or ExecutorOptions::step_budget is too small"
                  : "no atomic word changed any more: the lanes wait for something that cannot happen";
  return changed ? FaultKind::budget : FaultKind::livelock;
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
