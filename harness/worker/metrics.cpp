#include "harness/worker/metrics.hpp"

#include <array>

namespace allocbench::worker {
namespace {

constexpr std::array table{
    Metric{"time", "s", "lower", "time of a phase between two events on the device", "harness"},
    Metric{"throughput", "op/s", "higher", "operations of a phase over its median time", "harness"},
    Metric{"operations", "", "none", "mallocs and frees that a phase performed", "workload"},
    Metric{"null_returns", "", "lower", "mallocs of a sample that returned null", "workload"},
    Metric{"mallocs", "", "none", "mallocs of a sample, where chance decides how many", "workload"},
    Metric{"frees", "", "none", "frees of a sample, where chance decides how many", "workload"},
    Metric{"alloc_cycles", "cycles", "lower", "cycles of a malloc: mean over the callers of a sample", "workload"},
    Metric{"free_cycles", "cycles", "lower", "cycles of a free: mean over the callers of a sample", "workload"},
    Metric{"registers", "", "lower", "registers per thread of a phase's kernel, allocator included", "harness"},
    Metric{"local_bytes", "B", "lower", "local memory per thread of a phase's kernel", "harness"},
    Metric{"pool_bytes", "B", "none", "memory that the allocator manages", "allocator"},
    Metric{"metadata_bytes", "B", "lower", "device memory that the allocator keeps outside of its pool", "allocator"},
    Metric{"init_time", "s", "lower", "wall time to lay out the allocator's state, memory allocation included",
           "harness"},
    Metric{"device_heap_bytes", "B", "none", "size of the back end's own heap in this process", "harness"},
    Metric{"sm_clock", "MHz", "none", "clock of the multiprocessors right after a sample", "harness"},
    Metric{"temperature", "degC", "none", "temperature of the GPU right after a sample", "harness"},
    Metric{"wall_time", "s", "none", "host time of a sample with its resets, copies and checks", "harness"},
};

}  // namespace

std::span<const Metric> metrics() { return table; }

}  // namespace allocbench::worker
