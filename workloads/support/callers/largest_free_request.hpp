// This function finds the largest single request that a heap serves in its current state. It shows how external
// fragmentation limits the use of free memory.
#pragma once

#include <cstdint>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

// Tries sizes in falling order, eight between two powers of two, from the largest that a fresh pool serves. Each try is
// one request (of a whole warp if all lanes must call together), and its block is freed. The heap is unchanged
// afterwards. Returns 0 if the heap does not serve 16 B.
std::uint64_t largest_free_request(simt::Stream& stream, const RunSetting& setting, const AllocatorHandle& allocator);

}  // namespace allocbench
