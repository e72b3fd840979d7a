#include <numeric>

#include "workloads/support/parallel/scan.hpp"

namespace allocbench {

ExclusiveScan::ExclusiveScan(std::uint32_t count) : count_(count) {}

// Device memory is host memory here, and streams order nothing.
void ExclusiveScan::run(simt::Stream&, const std::uint64_t* counts, std::uint64_t* sums) {
  std::exclusive_scan(counts, counts + count_, sums, std::uint64_t{0});
}

}  // namespace allocbench
