// This file has the interface between a plug-in's shared object and a worker.
//
// A plug-in consists of one or more shared objects ("parts"). The first part contains its allocators and the kernels of
// the micro tests. A second part, if any, contains the kernels of the applications. At its start a worker loads the
// parts in its folders, so a new allocator only needs a file in one of them. A part is linked from units, and each unit
// compiles some groups of kernels.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "workloads/support/contract/unit_kernels.hpp"

namespace allocbench {

class AllocatorType;

struct PluginPart {
  std::vector<AllocatorType> (*allocators)() =
      nullptr;  // function that makes the allocators; null in parts with kernels only
  std::span<const UnitKernels> kernels;
};

}  // namespace allocbench

// The exports of every part. Each part also contains the text of its interface (ALLOCBENCH_PLUGIN_INTERFACE in
// cmake/AllocbenchOptions.cmake). If this text differs from the worker's, the part was built for another worker or from
// other headers. The worker then refuses the part and loads nothing of it. Plug-ins are compiled with hidden symbols.
extern "C" [[gnu::visibility("default")]] const allocbench::PluginPart* allocbench_plugin_part();
