#include "harness/worker/describe.hpp"

#include <allocbench_revision.hpp>
#include <iterator>
#include <sstream>

#include "harness/worker/backend.hpp"
#include "harness/worker/metrics.hpp"

namespace allocbench::worker {
namespace {

const char* word(Frees frees) {
  switch (frees) {
    case Frees::never:
      return "never";
    case Frees::individually:
      return "individually";
    case Frees::in_bulk:
      return "in_bulk";
  }
  return "";
}

const char* word(Form form) {
  switch (form) {
    case Form::published:
      return "published";
    case Form::reworked:
      return "reworked";
    case Form::ablation:
      return "ablation";
    case Form::original:
      return "original";
    case Form::delayed:
      return "delayed";
  }
  return "";
}

const char* word(PoolLocation pool) {
  switch (pool) {
    case PoolLocation::arena:
      return "arena";
    case PoolLocation::device_heap:
      return "device_heap";
    case PoolLocation::arena_and_device_heap:
      return "arena_and_device_heap";
    case PoolLocation::own:
      return "own";
  }
  return "";
}

protocol::AllocatorDescription describe(const AllocatorType& allocator) {
  const Traits& traits = allocator.traits;
  return {.name = std::string(traits.name),
          .display_name = std::string(traits.display_name),
          .paper = std::string(traits.paper),
          .summary = std::string(traits.summary),
          .form = word(traits.form),
          .based_on = std::string(traits.based_on),
          .plugin = allocator.plugin,
          .frees = word(traits.frees),
          .alignment = traits.alignment,
          .pool = word(traits.pool),
          .fresh = traits.fresh == Fresh::by_reset ? "reset" : "process",
          .test_only = traits.test_only,
          .parameters = allocator.parameters};
}

protocol::WorkloadDescription describe(const WorkloadType& workload) {
  const WorkloadTraits& traits = workload.traits;
  std::istringstream words{std::string(traits.phases)};
  return {.name = std::string(traits.name),
          .display_name = std::string(traits.display_name),
          .paper = std::string(traits.paper),
          .summary = std::string(traits.summary),
          .phases = {std::istream_iterator<std::string>(words), {}},
          .null_expected = traits.null_expected,
          .parameters = workload.parameters};
}

}  // namespace

protocol::WorkerDescription describe(const Registry& registry) {
  protocol::WorkerDescription worker{.backend = backend_name(),
                                     .revision = ALLOCBENCH_REVISION,
                                     .measured_revision = ALLOCBENCH_MEASURED_REVISION,
                                     .compiler = compiler_text(),
                                     .allocators = {},
                                     .workloads = {},
                                     .metrics = metrics()};
  for (const auto& allocator : registry.allocators()) worker.allocators.push_back(describe(*allocator));
  for (const WorkloadType& workload : registry.workloads()) worker.workloads.push_back(describe(workload));
  return worker;
}

}  // namespace allocbench::worker
