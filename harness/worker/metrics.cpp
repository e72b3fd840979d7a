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
    Metric{"requested_bytes", "B", "none", "sum of the request sizes of a sample's mallocs", "workload"},
    Metric{"served_bytes", "B", "higher", "sum of the request sizes that a pool served until it was full", "workload"},
    Metric{"block_bytes", "B", "lower", "what a block takes of a full pool: median distance of neighbours", "workload"},
    Metric{"internal_waste", "", "lower", "share of a block that the request did not ask for", "workload"},
    Metric{"external_waste", "", "lower", "share of a full pool that no block takes", "workload"},
    Metric{"steps_per_malloc", "", "lower",
           "TAS: steps of a malloc; a step is a probe (random walks), a turn (simple queues) or an update of a shared "
           "word",
           "counted"},
    Metric{"warp_steps_per_malloc", "", "lower", "WAS: steps of the slowest lane of a warp, mean over the warps",
           "counted"},
    Metric{"retried_mallocs", "", "lower", "mallocs of a pass that took more than one step", "counted"},
    Metric{"pages_found", "", "none", "free pages that a warp saw in the first round of its search", "counted"},
    Metric{"operations_per_malloc", "", "lower", "operations on shared words per malloc", "counted"},
    Metric{"compare_exchanges_per_malloc", "", "lower", "compare-exchanges per malloc, lost ones included", "counted"},
    Metric{"lost_exchanges_per_malloc", "", "lower", "compare-exchanges per malloc that found another value",
           "counted"},
    Metric{"updates_per_malloc", "", "lower", "other read-modify-writes per malloc", "counted"},
    Metric{"operations_per_free", "", "lower", "operations on shared words per free", "counted"},
    Metric{"compare_exchanges_per_free", "", "lower", "compare-exchanges per free, lost ones included", "counted"},
    Metric{"lost_exchanges_per_free", "", "lower", "compare-exchanges per free that found another value", "counted"},
    Metric{"updates_per_free", "", "lower", "other read-modify-writes per free", "counted"},
    Metric{"alloc_cycles", "cycles", "lower", "cycles of a malloc: mean over the callers of a sample", "workload"},
    Metric{"free_cycles", "cycles", "lower", "cycles of a free: mean over the callers of a sample", "workload"},
    Metric{"atomic_cycles", "cycles", "lower", "cycles that a thread waits for an atomic addition: mean of a sample",
           "workload"},
    Metric{"triangles", "", "none", "triangles of a scene", "workload"},
    Metric{"references_per_triangle", "", "none", "references in the leaves of a tree over the triangles", "workload"},
    Metric{"mean_request_bytes", "B", "none", "mean of the request sizes of a sample's mallocs", "workload"},
    Metric{"deviation_bytes", "B", "none", "standard deviation of the request sizes", "workload"},
    Metric{"wrapped_deviation_bytes", "B", "none",
           "the same with each square modulo 2^32, as a paper's program adds them", "workload"},
    Metric{"resident_warps", "", "higher", "warps of a persistent kernel that run at once", "workload"},
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
