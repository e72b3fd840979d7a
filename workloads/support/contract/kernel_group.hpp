// Groups of kernels: what a unit of every plug-in compiles (cmake/AllocbenchAllocators.cmake names the groups of units,
// workloads/CMakeLists.txt the kernels of groups). Kernels are together because of what they cost: an edit of one
// compiles all of its group again.
#pragma once

#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench {

// What is not compiled costs no build time: allocators that are broken on purpose run in alloc_free only, ablations do
// not run in applications.
template <class... Lists>
struct MicroGroup {
  using Kernels = JoinedKernels<Lists...>;
  using OfAblations = Kernels;
  using OfTestOnly = KernelList<>;
};

template <class... Lists>
struct ApplicationGroup {
  using Kernels = JoinedKernels<Lists...>;
  using OfAblations = KernelList<>;
  using OfTestOnly = KernelList<>;
};

}  // namespace allocbench
