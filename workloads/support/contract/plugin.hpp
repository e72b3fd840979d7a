// What a plug-in's shared object hands to a worker.
//
// A plug-in is one or more shared objects ("parts"): the first brings its allocators and the kernels of the micro
// tests, another one the kernels of the applications. A worker loads every part it finds in its folder at start, so a
// new allocator is a file dropped into that folder. A part is linked from units for some groups of kernels each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "workloads/support/contract/unit_kernels.hpp"

namespace allocbench {

class AllocatorType;

struct PluginPart {
  std::vector<AllocatorType> (*allocators)() = nullptr;  // null in parts with kernels alone
  std::span<const UnitKernels> kernels;
};

}  // namespace allocbench

// What every part exports. Its file also has the text of its interface (ALLOCBENCH_PLUGIN_INTERFACE in
// cmake/AllocbenchOptions.cmake): a part whose text differs from the worker's was built for another worker or from
// other headers. It is refused, and nothing of it is loaded. Plug-ins are compiled with hidden symbols.
extern "C" [[gnu::visibility("default")]] const allocbench::PluginPart* allocbench_plugin_part();
