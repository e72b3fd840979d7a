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
    for (const AllocatorType& allocator : part->allocators) registry.add(allocator);
  }
  for (const PluginPart* part : parts) {
    for (const auto& [allocator, kernels] : part->kernels) registry.add_kernels(allocator, kernels);
  }
  return registry;
}

}  // namespace allocbench::worker
