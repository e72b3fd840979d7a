// The largest single request that a heap serves as it is: so much of its free memory has external fragmentation left.
#pragma once

#include <cstdint>

#include "workloads/support/contract/workload.hpp"

namespace allocbench {

// Tries sizes downwards from the largest that a fresh pool serves, eight between two powers of two. It makes one
// request at a time (by a whole warp if all lanes must call together) and frees what it gets. 0 when 16 B are not
// served. Leaves the heap as it was.
std::uint64_t largest_free_request(simt::Stream& stream, const RunSetting& setting, const AllocatorHandle& allocator);

}  // namespace allocbench
