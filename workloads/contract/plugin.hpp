// What a plug-in's shared object hands to a worker.
//
// A plug-in is one or more shared objects ("parts"): the first brings its allocators and the kernels of the micro
// tests, another one the kernels of the applications. A worker loads every part it finds in its folder at start, so a
// new allocator is a file dropped into that folder. A part is linked from units for some groups of kernels each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "workloads/contract/unit_kernels.hpp"

namespace allocbench {

class AllocatorType;

struct PluginPart {
  std::vector<AllocatorType> (*allocators)() = nullptr;  // null in parts with kernels alone
  std::span<const UnitKernels> kernels;
};

}  // namespace allocbench

// What every part exports. The interface is a text of ALLOCBENCH_PLUGIN_INTERFACE (cmake/AllocbenchOptions.cmake): a
// part whose text differs from the worker's was built from other sources and is refused before anything of it is
// called.
// Plug-ins are compiled with hidden symbols.
extern "C" {
[[gnu::visibility("default")]] const char* allocbench_plugin_interface();
[[gnu::visibility("default")]] const allocbench::PluginPart* allocbench_plugin_part();
}
