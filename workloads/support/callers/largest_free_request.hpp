// This function finds the largest request that a heap serves in its current state, in steps of an eighth of a power of
// two. The result shows how external fragmentation limits the use of free memory.
#pragma once

#include <cstdint>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

// Tries the largest request that a fresh pool serves. If this try fails, it tries powers of two in falling order. From
// the first power of two that the heap serves, the size rises by eighths of this power. It rises until a request fails,
// exceeds the limit of a fresh pool or reaches the next power. Each try makes one request, or one per lane of a warp if
// all lanes must call together, and frees the blocks. Afterwards the same blocks are in use as before. Returns 0 if all
// tries down to 16 B fail.
std::uint64_t largest_free_request(simt::Stream& stream, const RunSetting& setting, const AllocatorHandle& allocator);

}  // namespace allocbench
