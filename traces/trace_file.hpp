// These functions store a trace as a folder: trace.json, and a NumPy array for each property of the calls
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

// Reads a trace. Arrays may be compressed by gzip (thread.npy.gz). On failure, throws TraceError with the name of the
// file or folder.
Trace read_trace(const std::filesystem::path& folder);

// Writes a trace into the folder, which it creates if necessary. Throws TraceError if the folder already contains a
// trace or cannot be written, or if no program can have made the trace.
void write_trace(const Trace& trace, const std::filesystem::path& folder);

}  // namespace allocbench::traces
