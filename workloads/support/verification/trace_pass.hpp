// TracePass records the calls of a workload's pass as a trace (docs/try-your-application.md).
#pragma once

#include <cstdint>
#include <string>

#include "allocators/support/adaptors/trace_recorder.hpp"
#include "workloads/support/contract/allocator_handle.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

class TracePass {
 public:
  // The buffers have room for `calls` calls per kernel. Throws CellFailure if the design keeps blocks in the device
  // heap or frees in bulk.
  TracePass(simt::Stream& stream, const AllocatorHandle& allocator, const PointerRules& rules, std::size_t pool_bytes,
            std::uint32_t calls);

  // Returns the allocator for the sample.
  AllocatorHandle allocator() { return allocator_.traced(recorder_); }
  // Writes the trace. Returns a text with the numbers of calls, kernels and lost calls. If the folder cannot be
  // written, the text reports this, and all results of the cell stay valid.
  std::string write(const std::string& folder) const;

 private:
  AllocatorHandle allocator_;
  TraceRecorder recorder_;
};

}  // namespace allocbench
