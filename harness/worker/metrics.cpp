#include "harness/worker/metrics.hpp"

#include <string>
#include <utility>

namespace allocbench::worker {
namespace {

// Adds the metrics of the durations of single calls, which the workload `latency` measures.
std::vector<protocol::MetricDescription> with_latencies(std::vector<protocol::MetricDescription> metrics) {
  constexpr std::pair<const char*, const char*> calls[] = {{"alloc", "of single mallocs"},
                                                           {"free", "of single frees"},
                                                           {"own", "of an empty call: the cost of the measurement"}};
  constexpr std::pair<const char*, const char*> ranks[] = {{"p50", "median duration "},
                                                           {"p90", "90th percentile of the durations "},
                                                           {"p99", "99th percentile of the durations "},
                                                           {"p999", "99.9th percentile of the durations "},
                                                           {"max", "longest duration "}};
  for (const auto& [call, of] : calls) {
    for (const auto& [rank, what] : ranks) {
      metrics.push_back({std::string(call) + "_" + rank, "ticks", "lower",
                         std::string(what) + of + " (a tick is a cycle; on the CPU back end a step of the executor)",
                         "workload"});
    }
  }
  return metrics;
}

const std::vector<protocol::MetricDescription> table = with_latencies({
    {"time", "s", "lower", "time of a phase between two events on the device", "harness"},
    {"throughput", "op/s", "higher", "operations of a phase divided by its median time", "harness"},
    {"operations", "", "none", "mallocs and frees that a phase performed", "workload"},
    {"null_returns", "", "lower", "mallocs of a sample that returned null", "workload"},
    {"spurious_nulls", "", "lower",
     "null returns of kernels whose requests all fitted into the memory that was free at their start", "workload"},
    {"mallocs", "", "none", "mallocs of a sample, where their number is random", "workload"},
    {"frees", "", "none", "frees of a sample, where their number is random", "workload"},
    {"requested_bytes", "B", "none", "sum of the request sizes of a sample's mallocs", "workload"},
    {"alignment_bytes", "B", "lower", "bytes that the requests of a sample add to their sizes for alignment",
     "workload"},
    {"served_bytes", "B", "higher", "sum of the request sizes that a pool served until it was full", "workload"},
    {"block_bytes", "B", "lower", "bytes that a block takes in a full pool, as the median distance of neighbours",
     "workload"},
    {"internal_waste", "", "lower", "share of a block that the request did not ask for", "workload"},
    {"external_waste", "", "lower", "share of a full pool that no block takes", "workload"},
    {"usable_share", "", "higher", "share of the pool that requests got before the first null", "workload"},
    {"recovered_share", "", "higher", "share of the freed bytes that later requests got", "workload"},
    {"caught_share", "", "higher", "share of the double frees that the Checked adaptor detected", "workload"},
    {"live_bytes", "B", "none", "sum of the request sizes of all blocks in use at the end of a sample", "workload"},
    {"range_per_live", "", "lower", "distance from the first to the last byte in use, divided by the bytes in use",
     "workload"},
    {"largest_free_request", "B", "higher", "largest single request that the allocator serves at the end of a sample",
     "workload"},
    {"lost_share", "", "lower",
     "share of the pool that is not in use and that further requests of the same sizes cannot get", "workload"},
    {"range_bytes", "B", "lower",
     "from the start of the lowest to the end of the highest block of a round, in the widest round", "workload"},
    {"address_spread", "", "lower", "range_bytes divided by the bytes that a round requests", "workload"},
    {"running_spread", "", "lower", "address range of the blocks of all rounds, divided by the bytes of one round",
     "workload"},
    {"steps_per_malloc", "", "lower",
     "TAS: steps of a malloc. A step is a probe (random walks), a turn (simple queues) or an update of a shared word",
     "counted"},
    {"warp_steps_per_malloc", "", "lower", "WAS: steps of the slowest lane of a warp, mean over the warps", "counted"},
    {"retried_mallocs", "", "lower", "mallocs of a pass that took more than one step", "counted"},
    {"pages_found", "", "none", "free pages that a warp found in the first round of its search", "counted"},
    {"operations_per_malloc", "", "lower", "operations on shared words per malloc", "counted"},
    {"compare_exchanges_per_malloc", "", "lower", "compare-exchanges per malloc, lost ones included", "counted"},
    {"lost_exchanges_per_malloc", "", "lower", "compare-exchanges per malloc that found another value", "counted"},
    {"updates_per_malloc", "", "lower", "other read-modify-writes per malloc", "counted"},
    {"operations_per_free", "", "lower", "operations on shared words per free", "counted"},
    {"compare_exchanges_per_free", "", "lower", "compare-exchanges per free, lost ones included", "counted"},
    {"lost_exchanges_per_free", "", "lower", "compare-exchanges per free that found another value", "counted"},
    {"updates_per_free", "", "lower", "other read-modify-writes per free", "counted"},
    {"alloc_cycles", "cycles", "lower", "cycles of a malloc: mean over the callers of a sample", "workload"},
    {"free_cycles", "cycles", "lower", "cycles of a free: mean over the callers of a sample", "workload"},
    {"atomic_cycles", "cycles", "lower", "cycles that a thread waits for an atomic addition, mean of a sample",
     "workload"},
    {"triangles", "", "none", "triangles of a scene", "workload"},
    {"references_per_triangle", "", "none", "references in the leaves of a tree divided by the number of triangles",
     "workload"},
    {"mean_request_bytes", "B", "none", "mean of the request sizes of a sample's mallocs", "workload"},
    {"deviation_bytes", "B", "none", "standard deviation of the request sizes", "workload"},
    {"wrapped_deviation_bytes", "B", "none",
     "standard deviation with each square modulo 2^32, as the program of a paper computes it", "workload"},
    {"resident_warps", "", "higher", "warps of a persistent kernel that run at once", "workload"},
    {"registers", "", "lower", "registers per thread of a phase's kernel, allocator included", "harness"},
    {"local_bytes", "B", "lower", "local memory per thread of a phase's kernel", "harness"},
    {"pool_bytes", "B", "none", "memory that the allocator manages", "allocator"},
    {"metadata_bytes", "B", "lower", "device memory that the allocator keeps outside of its pool", "allocator"},
    {"init_time", "s", "lower", "wall time to set up the allocator, memory allocation included", "harness"},
    {"device_heap_bytes", "B", "none", "size of the back end's own heap in this process", "harness"},
    {"energy_per_million", "J", "lower", "energy of a million operations of a sample, minus idle power and preparation",
     "harness"},
    {"energy_noise", "J", "none", "one standard deviation of energy_per_million within its process", "harness"},
    {"idle_power", "W", "none", "power of the idle GPU before and after the energy measurement", "harness"},
    {"sm_clock", "MHz", "none", "clock of the multiprocessors right after a sample", "harness"},
    {"temperature", "degC", "none", "temperature of the GPU right after a sample", "harness"},
    {"wall_time", "s", "none", "host time of a sample with its resets, copies and checks", "harness"},
});

}  // namespace

const std::vector<protocol::MetricDescription>& metrics() { return table; }

}  // namespace allocbench::worker
