// This file has the types of the worker's host code: allocators and workloads by name, instances and cells.
//
// Host code that does not include simt/simt.hpp is compiled once, and both workers link the same objects. So
// `simt::Stream` stays an incomplete type here. The code of instances and cells is compiled once per back end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocators/support/contract/parameters.hpp"
#include "allocators/support/contract/traits.hpp"
#include "protocol/command.hpp"
#include "protocol/description.hpp"
#include "workloads/support/contract/allocator_type.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/contract/stages.hpp"
#include "workloads/support/contract/traits.hpp"
#include "workloads/support/contract/workload_type.hpp"
#include "workloads/support/verification/call_statistics.hpp"

namespace simt {
class Stream;
}

namespace allocbench::worker {

using protocol::L2State;
using protocol::StartState;

struct CellRequest {
  const WorkloadType* workload = nullptr;
  ParameterValues parameters;
  protocol::CellSettings settings;
  bool long_warm_ups_count = false;  // whether long warm-ups count as samples (harness/worker/warm_ups.hpp)
};

struct VerificationLimits {
  std::optional<double> seconds = {};           // time limit of each stage; calls that exceed it end
  std::optional<double> contents_seconds = {};  // time for all passes over contents; empty: no limit
  std::string trace = {};                       // folder for a trace of one more pass; empty: no trace
  std::uint32_t trace_calls = 0;                // capacity of the trace's buffers for one kernel
};

// The verdicts, as in protocol::Checks. Numbers that were not found in time are absent.
struct Verification {
  std::optional<std::uint64_t> null_returns;
  std::optional<std::uint64_t> blocks;
  std::string content;
  std::optional<std::uint64_t> leak_rounds;
  std::string leak;
  std::optional<std::uint64_t> spurious_nulls;  // spurious nulls of the leak check
  std::string reset;
  std::string trace;
  CallStatistics counted;
  std::vector<Histogram> histograms;  // histograms of the workload itself
  bool stale = false;                 // whether calls ended half-way, and only a new process can make the allocator new
};

struct Sample {
  double seconds = 0;  // seconds of all phases together
  std::vector<Phase> phases;
  std::vector<Counter> counters;
};

struct ProcessState;

// One (allocator, workload) pair with all parameters, ready to be measured. Every function may throw CellFailure,
// simt::Fault and std::bad_alloc.
class Cell {
 public:
  virtual ~Cell() = default;
  virtual std::vector<KernelInfo> kernels() const = 0;
  // Returns whether the cell's blocks may come from the device heap.
  virtual bool uses_device_heap() const = 0;
  // Runs the untimed passes, which check contents, pointers, leaks, resets and invariants, and count steps. Calls that
  // exceed the time of a stage end themselves. The findings of the stage are then invalid, and the verdict states this.
  virtual Verification verify(const VerificationLimits& limits, const StageListener& stages) = 0;
  // Makes one timed repetition with checked pointers. Warm-ups come before the first one, or a long warm-up is the
  // first one (warm_ups.hpp).
  virtual Sample sample(const StageListener& stages) = 0;
  // repeat() makes the same repetition as sample(), without checks and results. prepare() makes only the steps
  // that come before the workload. Both wait for the device.
  virtual void repeat() = 0;
  virtual void prepare() = 0;
};

// An allocator with its pool and metadata. Its cells must not outlive it.
class AllocatorInstance {
 public:
  virtual ~AllocatorInstance() = default;
  virtual std::size_t pool_bytes() const = 0;
  virtual std::size_t metadata_bytes() const = 0;
  virtual double init_seconds() const = 0;
  virtual std::unique_ptr<Cell> open(const CellRequest& request) = 0;
};

// Creates an instance. `process` receives the time of the instance's work and the findings of its checks, and must
// outlive it. Throws CellFailure if the design cannot use this pool or these parameters. May throw simt::Fault.
std::unique_ptr<AllocatorInstance> create_instance(const AllocatorType& type, simt::Stream& stream,
                                                   std::size_t pool_bytes, const ParameterValues& parameters,
                                                   ProcessState& process);

// All allocators and workloads of this worker.
class Registry {
 public:
  explicit Registry(std::vector<WorkloadType> workloads) : workloads_(std::move(workloads)) {}

  // Throws std::runtime_error if another plug-in has an allocator with this name.
  void add(AllocatorType allocator);
  // Adds the kernels of one more part of a plug-in. Throws std::runtime_error if no earlier part had this allocator.
  void add_kernels(std::string_view allocator, CompiledKernels kernels);
  void add_file(protocol::PluginDescription file) { files_.push_back(std::move(file)); }
  void add_broken(protocol::BrokenPlugin plugin) { broken_.push_back(std::move(plugin)); }

  // Returns the allocators in the order of their names.
  const std::vector<std::unique_ptr<AllocatorType>>& allocators() const { return allocators_; }
  const std::vector<WorkloadType>& workloads() const { return workloads_; }
  // Returns the files of the plug-ins that are loaded. broken() returns the plug-ins that cannot be used.
  const std::vector<protocol::PluginDescription>& files() const { return files_; }
  const std::vector<protocol::BrokenPlugin>& broken() const { return broken_; }
  // Returns null if there is no allocator with this name.
  const AllocatorType* find_allocator(const std::string& name) const;
  const WorkloadType* find_workload(const std::string& name) const;

 private:
  std::vector<std::unique_ptr<AllocatorType>>
      allocators_;  // held by pointers, because instances keep references to them
  std::vector<WorkloadType> workloads_;
  std::vector<protocol::PluginDescription> files_;
  std::vector<protocol::BrokenPlugin> broken_;
};

}  // namespace allocbench::worker
