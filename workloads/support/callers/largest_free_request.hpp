// This function finds the largest single request that a heap serves in its current state. It shows how external
// fragmentation limits the use of free memory.
#pragma once

#include <cstdint>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

// Tries the largest request that a fresh pool serves, then powers of two in falling order. From the first power of two
// that the heap serves, the size rises by eighths of it until a request fails. Each try makes one request, or one per
// lane of a warp if all lanes must call together, and frees the blocks. Afterwards the same blocks are in use as
// before. Returns 0 if the heap does not serve 16 B.
std::uint64_t largest_free_request(simt::Stream& stream, const RunSetting& setting, const AllocatorHandle& allocator);

}  // namespace allocbench
