// Kernels that a unit of a plug-in compiled, as it hands them to the plug-in's other units and to the worker. Included
// by every unit, so it knows neither allocators nor the standard library's strings.
#pragma once

#include <span>
#include <string_view>
#include <typeinfo>

#include "simt/common.hpp"

namespace allocbench {

// A kernel compiled for one allocator.
struct AllocatorKernel {
  const std::type_info* type = nullptr;  // KernelOn<...>, for bare and untimed kernels too; or AlignedKernelOn<...>
  simt::KernelPointer bare;              // null for untimed kernels
  simt::KernelPointer observed;          // null for bare and aligned kernels
};

using CompiledKernels = std::span<const AllocatorKernel>;

// Those of the unit's groups (kernel_group.hpp) for one of the plug-in's allocators.
struct KernelsOfAllocator {
  std::string_view allocator;
  CompiledKernels kernels;
};

// For all of them.
using UnitKernels = std::span<const KernelsOfAllocator>;

}  // namespace allocbench
