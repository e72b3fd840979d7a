// A Hold stops a stream. A kernel of one thread waits at the front of the stream for a flag of the host. When the flag
// is set, the work that was enqueued behind this kernel starts back to back. So the time between two events that were
// enqueued during the hold excludes the host's launch latency.
//
// During a hold, a call that waits for the device would wait until the limit of the hold. A launch would also wait if
// the queue of the stream were full. Therefore the host functions of simt/ that wait for the device end the hold first,
// and record the reason. `limit_seconds` ends the hold in all other cases: library calls, tools that run one launch at
// a time, and a preempted host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace simt {

class Hold {
 public:
  // The work that is enqueued on the stream after begin() does not run before end(), unless the hold ends early. Only
  // one stream can be held at a time: a second begin() ends the first hold.
  void begin(cudaStream_t stream, double limit_seconds);
  void end();
  // Returns the reason why the last hold ended before end() or never began. Returns an empty text if it lasted. The
  // answer is final after a wait for the stream.
  std::string ended_early() const;

  Hold();
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  // Ends the current hold, if there is one. `call` names the host's next action, for the reason.
  static void before_wait(const char* call);
  // Ends the current hold before the first use of a kernel, because CUDA then loads its code, and loading may wait for
  // the device. before_launch() also ends a hold with too many launches.
  static void before_use(const void* kernel);
  static void before_launch(const void* kernel);

  // Words lie in memory that host and device see. Only one side writes each word.
  struct Words {
    std::uint32_t released;
    std::uint32_t gave_up;
  };

 private:
  void end_early(const char* why);

  Words* words_ = nullptr;
  std::uint32_t ticket_ = 0;  // ticket of the last hold
  std::uint32_t launches_ = 0;
  const char* why_ = nullptr;
  bool serialised_ = false;  // true if launches wait for the kernels before them
};

}  // namespace simt
