#include "harness/worker/plugins.hpp"

#include "harness/plugins/shared_objects.hpp"
#include "workloads/contract/plugin.hpp"

namespace allocbench::worker {

Registry load_plugins(const std::string& backend, std::vector<WorkloadType> workloads, const std::string& only) {
  Registry registry(std::move(workloads));
  std::vector<const PluginPart*> parts;
  for (const auto& file : plugin_files(backend)) {
    const std::string name = file.stem().string();
    if (!only.empty() && name != only && name != only + "-applications") continue;
    parts.push_back(SharedObject(file).function<const PluginPart*()>("allocbench_plugin_part")());
  }
  for (const PluginPart* part : parts) {
    if (part->allocators == nullptr) continue;
    for (AllocatorType& allocator : part->allocators()) registry.add(std::move(allocator));
  }
  for (const PluginPart* part : parts) {
    for (const UnitKernels unit : part->kernels) {
      for (const auto& [allocator, kernels] : unit) registry.add_kernels(allocator, kernels);
    }
  }
  return registry;
}

}  // namespace allocbench::worker
