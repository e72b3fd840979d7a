// What a plug-in's shared object hands to a worker.
//
// A plug-in is one or more shared objects ("parts"): the first brings its allocators and the kernels of the micro
// tests, another one the kernels of the applications. A worker loads every part it finds in its folder at start, so a
// new allocator is a file dropped into that folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workloads/contract/allocator_type.hpp"

namespace allocbench {

struct PluginPart {
  std::string plugin;
  std::string part;
  std::vector<AllocatorType> allocators;
  std::vector<std::pair<std::string, std::vector<AllocatorKernel>>> kernels;  // by allocator
};

}  // namespace allocbench

// What every part exports. The interface is a text of ALLOCBENCH_PLUGIN_INTERFACE (cmake/AllocbenchAllocators.cmake): a
// part whose text differs from the worker's was built from other sources and is refused before anything of it is
// called.
// Plug-ins are compiled with hidden symbols.
extern "C" {
[[gnu::visibility("default")]] const char* allocbench_plugin_interface();
[[gnu::visibility("default")]] const allocbench::PluginPart* allocbench_plugin_part();
}
