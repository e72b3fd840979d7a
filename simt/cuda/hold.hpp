// Hold: a kernel of one thread at the front of a stream that waits for a flag of the host. What the host enqueues
// behind it starts back to back once the flag is set, so that the host's launch latency falls between no pair of
// events.
//
// A call that waits for the device during a hold would wait forever, and so would a launch that finds the queue full.
// So every host function of simt/ that may wait ends the hold first and notes why. `limit_seconds` ends the other
// cases: library calls, tools that run one launch at a time, a host that was preempted.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace simt {

class Hold {
 public:
  // Between begin() and end() nothing that is enqueued on the stream runs. One stream at a time.
  void begin(cudaStream_t stream, double limit_seconds);
  void end();
  // Why the last hold ended before end(), or never began; empty when it lasted. Final once the stream was waited for.
  std::string ended_early() const;

  Hold();
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  // What the host does next; ends the hold that is on, if there is one.
  static void before_wait(const char* call);
  // A kernel's code is loaded when it is first needed, which may wait for the device.
  static void before_use(const void* kernel);
  static void before_launch(const void* kernel);

  // In memory that both sides see; each word is written by one of them.
  struct Words {
    std::uint32_t released;
    std::uint32_t gave_up;
  };

 private:
  void end_early(const char* why);

  Words* words_ = nullptr;
  std::uint32_t ticket_ = 0;  // of the last hold
  std::uint32_t launches_ = 0;
  const char* why_ = nullptr;
  bool serialised_ = false;  // launches wait for the kernels before them
};

}  // namespace simt
