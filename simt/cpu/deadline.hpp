// Deadline on the CPU executor has the members of simt/cuda/deadline.hpp. It uses the clock of the host.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace simt {

class Stream;

class DeadlineView {
 public:
  DeadlineView() = default;

  // Returns whether the deadline is over. If it is, Deadline::passed() becomes true.
  bool over() const {
    if (state_ == nullptr || Clock::now() < state_->end) return false;
    state_->passed.store(true, std::memory_order_relaxed);
    return true;
  }

 private:
  friend class Deadline;
  using Clock = std::chrono::steady_clock;
  struct State {
    Clock::time_point end = Clock::time_point::max();
    std::atomic<bool> passed = false;
  };

  explicit DeadlineView(State* state) : state_(state) {}

  State* state_ = nullptr;
};

class Deadline {
 public:
  explicit Deadline(Stream&) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  void start(double seconds) {
    state_->passed = false;
    state_->end = DeadlineView::Clock::now() +
                  std::chrono::duration_cast<DeadlineView::Clock::duration>(std::chrono::duration<double>(seconds));
  }
  void stop() { state_->end = DeadlineView::Clock::time_point::max(); }
  bool passed() const { return state_->passed; }
  DeadlineView view() const { return DeadlineView(state_.get()); }

 private:
  std::unique_ptr<DeadlineView::State> state_ = std::make_unique<DeadlineView::State>();
};

}  // namespace simt
