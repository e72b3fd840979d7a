// TracePass: a pass of a workload whose calls become a trace (docs/try-your-application.md).
#pragma once

#include <cstdint>
#include <string>

#include "allocators/support/adaptors/trace_recorder.hpp"
#include "workloads/support/contract/allocator_handle.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

class TracePass {
 public:
  // `calls` of a kernel fit into the buffers. Throws CellFailure where the design's blocks cannot be named or are not
  // freed one by one.
  TracePass(simt::Stream& stream, const AllocatorHandle& allocator, const PointerRules& rules, std::size_t pool_bytes,
            std::uint32_t calls);

  // For the sample.
  AllocatorHandle allocator() { return allocator_.traced(recorder_); }
  // What the trace has, and what it lacks. A folder that cannot be written takes no result away: the text says so.
  std::string write(const std::string& folder) const;

 private:
  AllocatorHandle allocator_;
  TraceRecorder recorder_;
};

}  // namespace allocbench
