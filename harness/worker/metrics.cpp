#include "harness/worker/metrics.hpp"

#include <string>
#include <utility>

namespace allocbench::worker {
namespace {

// Durations of single calls, as the workload `latency` counts them.
std::vector<protocol::MetricDescription> with_latencies(std::vector<protocol::MetricDescription> metrics) {
  constexpr std::pair<const char*, const char*> calls[] = {
      {"alloc", "of single mallocs"}, {"free", "of single frees"}, {"own", "of no call: the cost of measuring one"}};
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
    {"throughput", "op/s", "higher", "operations of a phase over its median time", "harness"},
    {"operations", "", "none", "mallocs and frees that a phase performed", "workload"},
    {"null_returns", "", "lower", "mallocs of a sample that returned null", "workload"},
    {"spurious_nulls", "", "lower", "of them, those whose kernel asked for no more than was free when it started",
     "workload"},
    {"mallocs", "", "none", "mallocs of a sample, where their number is random", "workload"},
    {"frees", "", "none", "frees of a sample, where their number is random", "workload"},
    {"requested_bytes", "B", "none", "sum of the request sizes of a sample's mallocs", "workload"},
    {"alignment_bytes", "B", "lower", "bytes that requests of a sample ask for beside their sizes, for their alignment",
     "workload"},
    {"served_bytes", "B", "higher", "sum of the request sizes that a pool served until it was full", "workload"},
    {"block_bytes", "B", "lower", "bytes that a block takes in a full pool: median distance of neighbours", "workload"},
    {"internal_waste", "", "lower", "share of a block that the request did not ask for", "workload"},
    {"external_waste", "", "lower", "share of a full pool that no block takes", "workload"},
    {"usable_share", "", "higher", "share of the pool that requests got before the first null", "workload"},
    {"recovered_share", "", "higher", "of the bytes that were freed, the share that later requests got", "workload"},
    {"caught_share", "", "higher", "share of the double frees that the Checked adaptor saw", "workload"},
    {"live_bytes", "B", "none", "sum of the request sizes of what is in use at the end of a sample", "workload"},
    {"range_per_live", "", "lower", "distance from the first to the last byte in use, over the bytes in use",
     "workload"},
    {"largest_free_request", "B", "higher", "largest single request that is served at the end of a sample", "workload"},
    {"lost_share", "", "lower",
     "share of the pool that neither what is in use nor further requests of the same sizes get", "workload"},
    {"range_bytes", "B", "lower",
     "from the start of the lowest to the end of the highest block of a round, in the widest round", "workload"},
    {"address_spread", "", "lower", "range_bytes over the bytes that a round asks for", "workload"},
    {"running_spread", "", "lower", "the same for the blocks of all rounds, over the bytes of one", "workload"},
    {"steps_per_malloc", "", "lower",
     "TAS: steps of a malloc; a step is a probe (random walks), a turn (simple queues) or an update of a shared "
     "word",
     "counted"},
    {"warp_steps_per_malloc", "", "lower", "WAS: steps of the slowest lane of a warp, mean over the warps", "counted"},
    {"retried_mallocs", "", "lower", "mallocs of a pass that took more than one step", "counted"},
    {"pages_found", "", "none", "free pages that a warp saw in the first round of its search", "counted"},
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
    {"atomic_cycles", "cycles", "lower", "cycles that a thread waits for an atomic addition: mean of a sample",
     "workload"},
    {"triangles", "", "none", "triangles of a scene", "workload"},
    {"references_per_triangle", "", "none", "references in the leaves of a tree over the triangles", "workload"},
    {"mean_request_bytes", "B", "none", "mean of the request sizes of a sample's mallocs", "workload"},
    {"deviation_bytes", "B", "none", "standard deviation of the request sizes", "workload"},
    {"wrapped_deviation_bytes", "B", "none",
     "the same with each square modulo 2^32, as the program of a paper computes it", "workload"},
    {"resident_warps", "", "higher", "warps of a persistent kernel that run at once", "workload"},
    {"registers", "", "lower", "registers per thread of a phase's kernel, allocator included", "harness"},
    {"local_bytes", "B", "lower", "local memory per thread of a phase's kernel", "harness"},
    {"pool_bytes", "B", "none", "memory that the allocator manages", "allocator"},
    {"metadata_bytes", "B", "lower", "device memory that the allocator keeps outside of its pool", "allocator"},
    {"init_time", "s", "lower", "wall time to lay out the allocator's state, memory allocation included", "harness"},
    {"device_heap_bytes", "B", "none", "size of the back end's own heap in this process", "harness"},
    {"energy_per_million", "J", "lower",
     "energy of a million operations of a sample, without idle power and preparation", "harness"},
    {"energy_noise", "J", "none", "one standard deviation of energy_per_million within its process", "harness"},
    {"idle_power", "W", "none", "power of the idle GPU before and after that measurement", "harness"},
    {"sm_clock", "MHz", "none", "clock of the multiprocessors right after a sample", "harness"},
    {"temperature", "degC", "none", "temperature of the GPU right after a sample", "harness"},
    {"wall_time", "s", "none", "host time of a sample with its resets, copies and checks", "harness"},
});

}  // namespace

const std::vector<protocol::MetricDescription>& metrics() { return table; }

}  // namespace allocbench::worker
