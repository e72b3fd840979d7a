#include "harness/worker/registry.hpp"

#include <algorithm>
#include <stdexcept>

namespace allocbench::worker {

void Registry::add(AllocatorType allocator) {
  const std::string name(allocator.traits.name);
  if (const AllocatorType* other = find_allocator(name)) {
    throw std::runtime_error("two plug-ins contain an allocator named '" + name + "': " + other->plugin + " and " +
                             allocator.plugin + ". Remove one, or rename its allocator.");
  }
  const auto place =
      std::find_if(allocators_.begin(), allocators_.end(), [&](const auto& each) { return each->traits.name > name; });
  allocators_.insert(place, std::make_unique<AllocatorType>(std::move(allocator)));
}

void Registry::add_kernels(std::string_view allocator, CompiledKernels kernels) {
  for (const auto& each : allocators_) {
    if (each->traits.name == allocator) return each->add_kernels(kernels);
  }
  throw std::runtime_error("a plug-in has kernels for the allocator '" + std::string(allocator) +
                           "', which no plug-in contains");
}

const AllocatorType* Registry::find_allocator(const std::string& name) const {
  for (const auto& each : allocators_) {
    if (each->traits.name == name) return each.get();
  }
  return nullptr;
}

const WorkloadType* Registry::find_workload(const std::string& name) const {
  for (const WorkloadType& each : workloads_) {
    if (each.traits.name == name) return &each;
  }
  return nullptr;
}

}  // namespace allocbench::worker
