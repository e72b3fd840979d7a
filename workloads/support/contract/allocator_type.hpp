// AllocatorType is an allocator for host code, with its type erased. It has the traits, parameters, host functions and
// compiled kernels of one allocator. So host code of workloads and workers is compiled once for all allocators.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "allocators/support/contract/parameters.hpp"
#include "allocators/support/contract/traits.hpp"
#include "simt/common.hpp"
#include "workloads/support/contract/unit_kernels.hpp"

namespace simt {
class Stream;
}

namespace allocbench {

class Arena;
class PageSet;
struct Pool;
struct CallLedger;
struct ContentLedger;
struct FailureRule;

// AllocatorFunctions are the host functions of an allocator type A. `handle` points to an A, `observed` to an
// Observed<A>, and `aligned` to an Aligned<A>. workloads/support/contract/export.hpp fills them in.
struct AllocatorFunctions {
  std::size_t handle_bytes = 0;
  // True if threads have state that is identified by their rank in the grid (allocators/support/contract/session.hpp).
  bool keeps_sessions = false;
  std::size_t observed_bytes = 0;
  std::size_t aligned_bytes = 0;
  std::size_t (*device_heap_bytes)(std::size_t pool_bytes, const ParameterValues&) = nullptr;
  std::size_t (*max_request)(std::size_t pool_bytes, const ParameterValues&) = nullptr;
  // Null if the design can fill and empty every pool (allocators/support/contract/allocator.hpp).
  std::string (*why_too_many_free)(std::size_t pool_bytes, const ParameterValues&, std::size_t bytes,
                                   double free_share) = nullptr;
  // Writes the handle. May throw Unsupported or simt::Fault.
  void (*create)(Arena&, const ParameterValues&, void* handle) = nullptr;
  // Writes the observed allocator to `observed`. The alignment 0 means that no alignment is required.
  void (*observe)(const void* handle, std::uint32_t alignment, const CallLedger&, const FailureRule&,
                  const ContentLedger&, void* observed) = nullptr;
  void (*align)(const void* handle, std::uint32_t alignment, void* aligned) = nullptr;
  // Returns the alignment of every block for a request of this size.
  std::size_t (*alignment_of)(const void* handle, std::size_t bytes) = nullptr;
  // Each of the following is null if the design does not offer it.
  void (*reset)(void* handle, simt::Stream&) = nullptr;
  std::string (*broken_invariant)(const void* handle, simt::Stream&) = nullptr;
  std::uint32_t (*page_count)(const void* handle) = nullptr;
  void (*occupy)(const void* handle, simt::Stream&, const PageSet& used) = nullptr;
  Pool (*own_pool)(const void* handle) = nullptr;
  void (*destroy)(void* handle) = nullptr;
};

// AllocatorType is one allocator with all its compiled kernels.
class AllocatorType {
 public:
  AllocatorType(const Traits& traits_, std::string plugin_, std::vector<ParameterInfo> parameters_,
                const AllocatorFunctions& functions_)
      : traits(traits_), plugin(std::move(plugin_)), parameters(std::move(parameters_)), functions(functions_) {}

  void add_kernels(CompiledKernels kernels);
  // Throws std::logic_error if the plug-in does not contain the kernel.
  simt::KernelPointer kernel(const std::type_info& type, bool observed) const;
  // Returns whether pages can be marked as used before a sample (workloads/support/random/page_set.hpp) and all freed
  // after it.
  bool marks_pages() const { return functions.occupy != nullptr && traits.fresh == Fresh::by_reset; }
  bool has_kernel(const std::type_info& type) const { return kernels_.contains(type); }
  bool has_observed_kernel(const std::type_info& type) const;

  Traits traits;
  std::string plugin;
  std::vector<ParameterInfo> parameters;
  AllocatorFunctions functions;

 private:
  struct Forms {
    simt::KernelPointer bare;
    simt::KernelPointer observed;
  };
  std::map<std::type_index, Forms> kernels_;
};

}  // namespace allocbench
