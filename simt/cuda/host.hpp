// Host side of the CUDA back end: devices, streams, events and buffers as RAII objects. Every runtime call is
// checked; a failure is a simt::Fault that names the call.
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

// Throws the Fault that `status` stands for; sticky errors become device_fault.
void check_cuda(cudaError_t status, const char* call);

inline constexpr bool has_device_cache = true;

// One CUDA device, made current for the constructing thread.
class Device {
 public:
  static int count();
  explicit Device(int ordinal);
  int ordinal() const { return ordinal_; }
  DeviceProperties properties() const;
  // Sets the heap behind `thread.device_heap()` and returns the bytes granted. Only before the first launch.
  std::size_t set_device_heap_bytes(std::size_t bytes);
  // True when `address` lies in the device heap; CUDA does not tell, so it answers true for every address.
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
  // What is enqueued from here on waits until the event was recorded.
  void wait(const Event& event);
  // Holds back what is enqueued until release(), at most so long (simt/cuda/hold.hpp).
  void hold(double limit_seconds) { hold_.begin(stream_, limit_seconds); }
  void release() { hold_.end(); }
  // After the stream was waited for: why the last hold did not last until release(); empty when it did.
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
  // Seconds between two recorded and completed events.
  static double seconds_between(const Event& start, const Event& stop);

 private:
  friend class Stream;
  cudaEvent_t event_ = nullptr;
};

// A part of the run by name, which Nsight Systems shows and Nsight Compute filters by: an NVTX range of this thread.
class Range {
 public:
  explicit Range(std::string_view name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace simt
