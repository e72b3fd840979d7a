// These types describe a worker. The worker prints them as JSON if it is started with --describe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/parameter.hpp"

namespace allocbench::protocol {

struct AllocatorDescription {
  std::string name;
  std::string display_name;
  std::string paper;
  std::string summary;
  std::string form = "published";  // published, reworked, own, ablation, original, delayed
  std::string based_on;            // id of the form that an ablation or a delayed form changes
  std::string plugin;
  std::string frees = "individually";  // never, individually, in_bulk
  std::uint64_t alignment = 16;
  std::string pool = "arena";      // arena, device_heap, arena_and_device_heap, own
  std::string fresh = "reset";     // reset, process
  bool keeps_device_heap = false;  // whether it keeps memory of the device heap when all blocks are freed
  bool test_only = false;
  std::vector<std::string> restrictions;  // important facts for users, such as "free does nothing"
  std::vector<ParameterInfo> parameters;

  bool pool_is_device_heap() const { return pool == "device_heap"; }
  bool has_heap_share() const { return pool == "arena_and_device_heap"; }
  // Returns whether a fresh state needs a new worker.
  bool fresh_by_process() const { return fresh == "process"; }
};

struct WorkloadDescription {
  std::string name;
  std::string display_name;
  std::string paper;
  std::string summary;
  std::vector<std::string> phases;
  std::vector<std::string> untimed_kernels;  // kernels outside of the phases: with registers, without times
  bool null_expected = false;
  std::vector<ParameterInfo> parameters;
};

struct MetricDescription {
  std::string name;
  std::string unit;    // unit of the metric; empty for counts and shares
  std::string better;  // lower, higher, none
  std::string description;
  std::string source;  // harness, workload, allocator, or counted in untimed passes
};

// A file of a plug-in that the worker has loaded.
struct PluginDescription {
  std::string plugin;
  std::string file;               // path
  std::string measured_revision;  // measured revision of the linked sources; empty if unknown
};

struct BrokenPlugin {
  std::string plugin;
  std::string reason;  // text with the file and the next step
};

struct WorkerDescription {
  std::string backend;
  std::string revision;           // the commit
  std::string measured_revision;  // as in protocol/sources.hpp; empty if unknown
  std::string compiler;
  std::vector<AllocatorDescription> allocators;
  std::vector<WorkloadDescription> workloads;
  std::vector<MetricDescription> metrics;
  std::vector<PluginDescription> plugins;
  std::vector<BrokenPlugin> broken_plugins;  // plug-ins that exist but are unusable
};

}  // namespace allocbench::protocol
