// This file has the compiled kernels of a unit, as the plug-in's other units and the worker see them. Every unit
// includes this header, so it includes neither allocators nor <string>.
#pragma once

#include <span>
#include <string_view>
#include <typeinfo>

#include "simt/common.hpp"

namespace allocbench {

// A kernel compiled for one allocator.
struct AllocatorKernel {
  const std::type_info* type = nullptr;  // KernelOn<...>, also for bare and untimed kernels, or AlignedKernelOn<...>
  simt::KernelPointer bare;              // kernel for the bare allocator; null for untimed kernels
  simt::KernelPointer observed;          // kernel for the observed allocator; null for aligned and most bare kernels
};

using CompiledKernels = std::span<const AllocatorKernel>;

// The kernels of the unit's groups (kernel_group.hpp) for one of the plug-in's allocators.
struct KernelsOfAllocator {
  std::string_view allocator;
  CompiledKernels kernels;
};

// The kernels for all allocators of the plug-in.
using UnitKernels = std::span<const KernelsOfAllocator>;

}  // namespace allocbench
