// A Deadline lets threads of hung kernels end themselves.
//
// The driver needs seconds to end the hung kernel of a killed process, and a trap destroys the context. If each thread
// checks the deadline from time to time and exits after the deadline, the kernel ends normally. Unfinished calls leave
// the memory in an undefined state, so the memory must be reset.
#pragma once

#include <cstdint>

#include "simt/common.hpp"
#if defined(__CUDACC__)
#include "simt/cuda/global_timer.hpp"
#endif

namespace simt {

class Stream;

// DeadlineView is a deadline as kernels see it, passed by value. A default DeadlineView is never over.
class DeadlineView {
 public:
  DeadlineView() = default;
  DeadlineView(const std::uint64_t* end, std::uint32_t* passed) : end_(end), passed_(passed) {}

  // Returns, to device code, whether the deadline is over. If so, Deadline::passed() becomes true.
  SIMT_FN bool over() const;

 private:
  const std::uint64_t* end_ = nullptr;  // end in the device's time; the word is in device memory
  std::uint32_t* passed_ = nullptr;     // flag in host memory, which outlives a fault of the device
};

#if defined(__CUDACC__)
SIMT_FN bool DeadlineView::over() const {
  if (end_ == nullptr || global_nanoseconds() < *static_cast<const volatile std::uint64_t*>(end_)) return false;
  *static_cast<volatile std::uint32_t*>(passed_) = 1;
  return true;
}
#endif

class Deadline {
 public:
  explicit Deadline(Stream& stream);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Waits for the stream, then sets the deadline. stop() removes the deadline after the work that is already enqueued.
  void start(double seconds);
  void stop();
  // Returns whether a thread has found the deadline over since the last start(). The answer is valid after a wait for
  // the stream, even if the wait failed.
  bool passed() const;
  DeadlineView view() const;

 private:
  Stream& stream_;
  std::uint64_t* end_ = nullptr;
  std::uint32_t* passed_ = nullptr;
};

}  // namespace simt
