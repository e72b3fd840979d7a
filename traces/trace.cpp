#include "traces/trace.hpp"

#include <algorithm>
#include <numeric>

namespace allocbench::traces {
namespace {

using std::to_string;

[[noreturn]] void fail(const std::string& place, const Kernel& kernel, std::size_t call, const std::string& what) {
  throw TraceError(place + ": call " + to_string(call) + " (kernel " + kernel.name + "): " + what);
}

}  // namespace

std::uint64_t Trace::lost() const {
  return std::accumulate(kernels.begin(), kernels.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Kernel& kernel) { return sum + kernel.lost; });
}

void require_possible(const Trace& trace, const std::string& place) {
  if (trace.calls.size() >= no_block) {
    throw TraceError(place + ": " + to_string(trace.calls.size()) + " calls; a trace has at most " +
                     to_string(no_block - 1));
  }
  std::uint64_t counted = 0;
  for (const Kernel& kernel : trace.kernels) counted += kernel.calls;
  if (counted != trace.calls.size()) {
    throw TraceError(place + ": the kernels have " + to_string(counted) + " calls, the arrays " +
                     to_string(trace.calls.size()));
  }
  std::vector<std::uint32_t> freed_by(trace.calls.size(), no_block);
  std::size_t begin = 0;
  for (const Kernel& kernel : trace.kernels) {
    const std::size_t end = begin + kernel.calls;
    for (std::size_t i = begin; i < end; ++i) {
      const Call& call = trace.calls[i];
      if (call.thread >= kernel.threads()) {
        fail(place, kernel, i,
             "thread " + to_string(call.thread) + "; its grid has " + to_string(kernel.threads()) + " threads");
      }
      if (i > begin && call.thread < trace.calls[i - 1].thread) fail(place, kernel, i, "calls are sorted by thread");
      if (call.alignment > 63) fail(place, kernel, i, "alignment 2^" + to_string(call.alignment));
      if (call.operation == Operation::malloc) {
        if (call.block != i && call.block != no_block) {
          fail(place, kernel, i, "a malloc has its own number as block, or none; found " + to_string(call.block));
        }
        continue;
      }
      if (call.operation != Operation::free) fail(place, kernel, i, "the operation is 0, a malloc, or 1, a free");
      if (call.block == no_block) continue;
      const std::string block = "block " + to_string(call.block);
      if (call.block >= end) fail(place, kernel, i, "frees " + block + " before its malloc");
      const Call& made = trace.calls[call.block];
      if (made.operation != Operation::malloc || made.block != call.block) {
        fail(place, kernel, i, "frees " + block + ", but that call made none");
      }
      if (call.block > i && made.thread == call.thread) fail(place, kernel, i, "frees " + block + " before its malloc");
      if (freed_by[call.block] != no_block) {
        fail(place, kernel, i, "frees " + block + ", which call " + to_string(freed_by[call.block]) + " freed before");
      }
      freed_by[call.block] = static_cast<std::uint32_t>(i);
    }
    begin = end;
  }
}

std::vector<std::uint64_t> live_bytes(const Trace& trace) {
  std::vector<std::uint64_t> live;
  std::uint64_t bytes = 0;
  auto call = trace.calls.begin();
  for (const Kernel& kernel : trace.kernels) {
    for (const auto end = call + static_cast<std::ptrdiff_t>(kernel.calls); call != end; ++call) {
      if (call->block == no_block) continue;
      if (call->operation == Operation::malloc) bytes += call->bytes;
      // Calls are sorted by thread, so a free may come before its malloc. The sum is correct after the last call.
      if (call->operation == Operation::free) bytes -= trace.calls[call->block].bytes;
    }
    live.push_back(bytes);
  }
  return live;
}

std::uint64_t peak_bytes(const Trace& trace) {
  const std::vector<std::uint64_t> live = live_bytes(trace);
  std::uint64_t peak = 0;
  std::size_t begin = 0;
  for (std::size_t kernel = 0; kernel < live.size(); ++kernel) {
    const std::size_t end = begin + trace.kernels[kernel].calls;
    std::uint64_t bytes = kernel == 0 ? 0 : live[kernel - 1];
    std::uint64_t of_thread = 0;
    std::uint64_t most_of_thread = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Call& call = trace.calls[i];
      if (i > begin && call.thread != trace.calls[i - 1].thread) {
        bytes += most_of_thread;
        of_thread = most_of_thread = 0;
      }
      if (call.block == no_block) continue;
      if (call.operation == Operation::malloc) {
        of_thread += call.bytes;
        most_of_thread = std::max(most_of_thread, of_thread);
      } else if (call.block >= begin && trace.calls[call.block].thread == call.thread) {
        of_thread -= trace.calls[call.block].bytes;
      }
    }
    peak = std::max(peak, bytes + most_of_thread);
    begin = end;
  }
  return peak;
}

}  // namespace allocbench::traces
