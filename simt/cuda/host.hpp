// The host side of the CUDA back end has devices, streams, events and buffers as RAII objects. Runtime calls are
// checked, except where a failure does not matter, as in destructors. A failure is a simt::Fault with the name of the
// call.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "simt/buffer.hpp"
#include "simt/common.hpp"
#include "simt/cuda/hold.hpp"
#include "simt/kernels.hpp"
#include "simt/stream_pool.hpp"

namespace simt {

// Throws a Fault or MachineFault if `status` is an error. simt/cuda/errors.hpp determines the kind. An error that is
// not listed there becomes device_fault.
void check_cuda(cudaError_t status, const char* call);

inline constexpr bool has_device_cache = true;

// Device is one CUDA device, which becomes current for the constructing thread.
class Device {
 public:
  static int count();
  explicit Device(int ordinal);
  int ordinal() const { return ordinal_; }
  DeviceProperties properties() const;
  // Sets the size of the heap of `thread.device_heap()` and returns the granted bytes. Must be called before the first
  // launch.
  std::size_t set_device_heap_bytes(std::size_t bytes);
  // Returns whether `address` is in the device heap. CUDA does not report this, so the answer is true for every
  // address.
  bool in_device_heap(const void*) const { return true; }
  void synchronize();

 private:
  int ordinal_;
};

class Event;

class Stream {
 public:
  explicit Stream(Device& device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t native() const { return stream_; }
  Device& device() const { return device_; }
  void synchronize();
  // Later work on this stream waits for the work before the event's last record().
  void wait(const Event& event);
  // Holds enqueued work back until release(), but for at most `limit_seconds` (simt/cuda/hold.hpp).
  void hold(double limit_seconds) { hold_.begin(stream_, limit_seconds); }
  void release() { hold_.end(); }
  // Returns the reason why the last hold ended before release(), or an empty text if it lasted. Call this function
  // after a wait for the stream.
  std::string not_held() const { return hold_.ended_early(); }

 private:
  Device& device_;
  cudaStream_t stream_ = nullptr;
  Hold hold_;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream& stream);
  void synchronize();
  // Returns the seconds between two recorded and completed events.
  static double seconds_between(const Event& start, const Event& stop);

 private:
  friend class Stream;
  cudaEvent_t event_ = nullptr;
};

// Range is a named part of the run, as an NVTX range of this thread. Nsight Systems shows it, and Nsight Compute can
// filter by it.
class Range {
 public:
  explicit Range(std::string_view name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace simt
