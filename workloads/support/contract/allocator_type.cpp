#include "workloads/support/contract/allocator_type.hpp"

#include <stdexcept>

namespace allocbench {

void AllocatorType::add_kernels(CompiledKernels kernels) {
  for (const AllocatorKernel& kernel : kernels) {
    Forms& forms = kernels_[*kernel.type];
    if (kernel.bare) forms.bare = kernel.bare;
    if (kernel.observed) forms.observed = kernel.observed;
  }
}

bool AllocatorType::has_observed_kernel(const std::type_info& type) const {
  const auto found = kernels_.find(type);
  return found != kernels_.end() && found->second.observed;
}

simt::KernelPointer AllocatorType::kernel(const std::type_info& type, bool observed) const {
  const auto found = kernels_.find(type);
  const simt::KernelPointer kernel =
      found == kernels_.end() ? simt::KernelPointer{} : (observed ? found->second.observed : found->second.bare);
  if (!kernel) {
    throw std::logic_error("the plug-in of " + std::string(traits.name) + " has no " +
                           (observed ? "observed" : "bare") + " kernel " + type.name());
  }
  return kernel;
}

}  // namespace allocbench
