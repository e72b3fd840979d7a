// These functions store a trace as a folder: trace.json, and a NumPy array for each column
// (docs/try-your-application.md).
//
//   trace.json      format, version, allocator, pool_bytes, clock, kernels
//   thread.npy      u4
//   operation.npy   u1   0: malloc, 1: free
//   alignment.npy   u1   binary logarithm of the alignment; 0: the allocator's own
//   bytes.npy       u8
//   block.npy       u4   4294967295: none
//   clock.npy       u4   only with clocks
#pragma once

#include <filesystem>

#include "traces/trace.hpp"

namespace allocbench::traces {

// Arrays may be compressed by gzip (thread.npy.gz). Throws TraceError, which names the file and the place in it.
Trace read_trace(const std::filesystem::path& folder);

// Creates the folder. Throws TraceError if it already contains a trace or cannot be written, or if no program can have
// made the trace.
void write_trace(const Trace& trace, const std::filesystem::path& folder);

}  // namespace allocbench::traces
