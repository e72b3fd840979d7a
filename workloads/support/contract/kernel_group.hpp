// Groups of kernels. Each unit of a plug-in compiles some groups (cmake/AllocbenchAllocators.cmake lists the groups of
// units, workloads/CMakeLists.txt the kernels of groups). The groups follow from build costs: an edit of one kernel
// compiles its whole group again.
#pragma once

#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench {

// To save build time, some kernels are not compiled: allocators that are broken on purpose run only in alloc_free, and
// ablations do not run in applications.
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
