// The largest single request that a heap serves as it is: what external fragmentation has left of its free memory.
#pragma once

#include <cstdint>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

// Tries sizes from the largest that the design serves from a fresh pool downwards, eight between two powers of two, one
// request at a time (of a whole warp where all lanes must call together), and frees what it gets. 0 when 16 B are not
// served. Leaves the heap as it was.
std::uint64_t largest_free_request(simt::Stream& stream, const RunSetting& setting, const AllocatorHandle& allocator);

}  // namespace allocbench
