// Makes the PluginPart of a plug-in unit. Included by the generated units only (cmake/plugin_*.cpp.in).
#pragma once

#include "workloads/common/call_kernels.hpp"
#include "workloads/contract/export.hpp"
#include "workloads/contract/plugin.hpp"

namespace allocbench {
namespace detail {

// Allocators that are broken on purpose run in alloc_free only; ablations do not run in applications.
// What is not compiled costs no build time.
template <class A, class Kernels>
using KernelsOfPart = std::conditional_t<A::traits.test_only, CallKernels, Kernels>;

}  // namespace detail

// The part that brings the allocators.
template <class Kernels, class... Allocators>
PluginPart first_part(const char* plugin, AllocatorList<Allocators...>) {
  PluginPart part{.plugin = plugin, .part = "micro", .allocators = {}, .kernels = {}};
  (part.allocators.push_back(allocator_type<Allocators>(plugin)), ...);
  (part.kernels.emplace_back(Allocators::traits.name,
                             kernels_for<Allocators, detail::KernelsOfPart<Allocators, Kernels>>()),
   ...);
  return part;
}

// A part with kernels alone, for allocators that run in applications.
template <class Kernels, class... Allocators>
PluginPart application_part(const char* plugin, AllocatorList<Allocators...>) {
  PluginPart part{.plugin = plugin, .part = "applications", .allocators = {}, .kernels = {}};
  const auto add = [&]<class A>(A*) {
    if constexpr (!A::traits.test_only && A::traits.form != Form::ablation) {
      part.kernels.emplace_back(A::traits.name, kernels_for<A, Kernels>());
    }
  };
  (add(static_cast<Allocators*>(nullptr)), ...);
  return part;
}

}  // namespace allocbench
