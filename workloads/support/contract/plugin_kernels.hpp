// This file compiles groups of kernels for the allocators of a plug-in. Only the generated units
// (cmake/plugin_*.cpp.in) include this header.
#pragma once

#include <array>

#include "workloads/support/contract/compiled_kernels.hpp"
#include "workloads/support/contract/plugin.hpp"

namespace allocbench {
namespace detail {

template <class A, class... Groups>
using KernelsOfGroups = std::conditional_t<
    A::traits.test_only, JoinedKernels<typename Groups::OfTestOnly...>,
    std::conditional_t<A::traits.form == Form::ablation, JoinedKernels<typename Groups::OfAblations...>,
                       JoinedKernels<typename Groups::Kernels...>>>;

}  // namespace detail

// The groups of a unit form one list, so their observed kernels form one family.
template <class... Groups, class... Allocators>
UnitKernels kernels_of_groups(AllocatorList<Allocators...>) {
  static const std::array<KernelsOfAllocator, sizeof...(Allocators)> kernels{
      {{Allocators::traits.name, kernels_for<Allocators, detail::KernelsOfGroups<Allocators, Groups...>>()}...}};
  return kernels;
}

}  // namespace allocbench
