#include "harness/worker/describe.hpp"

#include <sstream>

#include "harness/worker/backend.hpp"
#include "harness/worker/metrics.hpp"
#include "harness/worker/parameter_json.hpp"

namespace allocbench::worker {
namespace {

using nlohmann::ordered_json;

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

const char* word(PoolLocation pool) {
  switch (pool) {
    case PoolLocation::arena:
      return "arena";
    case PoolLocation::device_heap:
      return "device_heap";
    case PoolLocation::arena_and_device_heap:
      return "arena_and_device_heap";
  }
  return "";
}

ordered_json describe(const std::vector<ParameterInfo>& infos) {
  ordered_json list = ordered_json::array();
  for (const ParameterInfo& info : infos) list.push_back(worker::describe(info));
  return list;
}

ordered_json describe(const AllocatorType& allocator) {
  const Traits& traits = allocator.traits;
  return {{"name", traits.name},
          {"display_name", traits.display_name},
          {"paper", traits.paper},
          {"summary", traits.summary},
          {"plugin", allocator.plugin},
          {"frees", word(traits.frees)},
          {"alignment", traits.alignment},
          {"pool", word(traits.pool)},
          {"fresh", traits.fresh == Fresh::by_reset ? "reset" : "process"},
          {"test_only", traits.test_only},
          {"parameters", describe(allocator.parameters)}};
}

ordered_json describe(const WorkloadType& workload) {
  const WorkloadTraits& traits = workload.traits;
  ordered_json phases = ordered_json::array();
  std::istringstream words{std::string(traits.phases)};
  for (std::string phase; words >> phase;) phases.push_back(phase);
  return {{"name", traits.name},
          {"display_name", traits.display_name},
          {"paper", traits.paper},
          {"summary", traits.summary},
          {"phases", phases},
          {"null_expected", traits.null_expected},
          {"parameters", describe(workload.parameters)}};
}

ordered_json describe(const Metric& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"better", metric.better},
          {"description", metric.description},
          {"source", metric.source}};
}

}  // namespace

ordered_json describe(const Registry& registry) {
  ordered_json result{{"protocol", protocol_version},        {"backend", backend_name()},
                      {"revision", ALLOCBENCH_REVISION},     {"compiler", compiler_text()},
                      {"allocators", ordered_json::array()}, {"workloads", ordered_json::array()},
                      {"metrics", ordered_json::array()}};
  for (const auto& allocator : registry.allocators()) result["allocators"].push_back(describe(*allocator));
  for (const WorkloadType& workload : registry.workloads()) result["workloads"].push_back(describe(workload));
  for (const Metric& metric : metrics()) result["metrics"].push_back(describe(metric));
  return result;
}

}  // namespace allocbench::worker
