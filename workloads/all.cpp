#include "workloads/address_range/address_range.hpp"
#include "workloads/alloc_cycle_dealloc/alloc_cycle_dealloc.hpp"
#include "workloads/alloc_dealloc/alloc_dealloc.hpp"
#include "workloads/alloc_free/alloc_free.hpp"
#include "workloads/array_list/array_list.hpp"
#include "workloads/atomic_latency/atomic_latency.hpp"
#include "workloads/churn/churn.hpp"
#include "workloads/fill/fill.hpp"
#include "workloads/fragmentation/fragmentation.hpp"
#include "workloads/get_page/get_page.hpp"
#include "workloads/graph/graph_arrays.hpp"
#include "workloads/graph/graph_build.hpp"
#include "workloads/group_by/group_by.hpp"
#include "workloads/hash_join/hash_join.hpp"
#include "workloads/heap_init/heap_init.hpp"
#include "workloads/host_latency/host_latency.hpp"
#include "workloads/index_nodes/index_nodes.hpp"
#include "workloads/kd_tree/kd_tree.hpp"
#include "workloads/latency/latency.hpp"
#include "workloads/misuse/misuse.hpp"
#include "workloads/pairs/pairs.hpp"
#include "workloads/particle_frames/particle_frames.hpp"
#include "workloads/prefix_sum/prefix_sum.hpp"
#include "workloads/probability/probability.hpp"
#include "workloads/producer_consumer/producer_consumer.hpp"
#include "workloads/randomized/randomized.hpp"
#include "workloads/recovery/recovery.hpp"
#include "workloads/replay/replay.hpp"
#include "workloads/scenario/scenario.hpp"
#include "workloads/streams/streams.hpp"
#include "workloads/strings/strings.hpp"
#include "workloads/two_phase/two_phase.hpp"
#include "workloads/work_generation/work_generation.hpp"
#include "workloads/write_performance/write_performance.hpp"

namespace allocbench {

std::vector<WorkloadType> all_workloads() {
  return {workload_type<AllocFree>(),
          workload_type<AllocDealloc>(),
          workload_type<AllocCycleDealloc>(),
          workload_type<Probability>(),
          workload_type<TwoPhase>(),
          workload_type<Randomized>(),
          workload_type<Fill>(),
          workload_type<Fragmentation>(),
          workload_type<Streams>(),
          workload_type<HostLatency>(),
          workload_type<PrefixSum>(),
          workload_type<Pairs>(),
          workload_type<ArrayListGrowth>(),
          workload_type<GraphBuild>(),
          workload_type<HeapInit>(),
          workload_type<GetPage>(),
          workload_type<Scenario>(),
          workload_type<GraphArrays>(),
          workload_type<AtomicLatency>(),
          workload_type<KdTree>(),
          workload_type<HashJoin>(),
          workload_type<GroupBy>(),
          workload_type<LatencyTails>(),
          workload_type<Churn>(),
          workload_type<Recovery>(),
          workload_type<ProducerConsumer>(),
          workload_type<Misuse>(),
          workload_type<AddressRange>(),
          workload_type<WorkGeneration>(),
          workload_type<WritePerformance>(),
          workload_type<ParticleFrames>(),
          workload_type<IndexNodes>(),
          workload_type<Strings>(),
          workload_type<Replay>()};
}

}  // namespace allocbench
