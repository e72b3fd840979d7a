// The contract of a workload.
//
// A workload has two halves. The plug-in of every allocator compiles the device half, kernels.hpp. The host half is
// compiled once and launches these kernels through an AllocatorHandle, so it does not know which allocator it runs:
//
//   using MyKernels = KernelList<KernelOn<AllocKernel, Geometry, FixedSize, void**>, ...>;   // kernels.hpp
//
//   struct MyWorkload {                                                                      // my_workload.hpp
//     struct Parameters { ...; static auto fields(); };
//     static constexpr WorkloadTraits traits{.name = "my_workload", ..., .phases = "alloc free"};
//     // Why this allocator cannot run it; empty when it can.
//     // Throws std::invalid_argument for parameters that contradict each other.
//     static std::string unsupported(const Parameters&, const RunSetting&);
//     // May throw CellFailure and simt::Fault.
//     static std::unique_ptr<WorkloadRun> open(const Parameters&, const RunSetting&, simt::Stream&);
//   };
//
// A new workload needs a folder and a line in workloads/CMakeLists.txt. Kernels receive the allocator by value. A
// thread calls it between attach() and detach() (allocators/support/contract/session.hpp), because some allocators keep
// a state per warp. Kernels store every returned pointer where check_recorded() can read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocators/support/contract/parameters.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/allocator_handle.hpp"
#include "workloads/support/contract/phase_timer.hpp"
#include "workloads/support/contract/traits.hpp"
#include "workloads/support/contract/workload_type.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

class PointerCheck;

// Properties of the cell that a workload may use.
struct RunSetting {
  const AllocatorType& allocator;
  std::size_t pool_bytes = 0;
  ParameterValues parameters = {};  // of the allocator
  std::uint64_t seed = 0;

  const Traits& traits() const { return allocator.traits; }
  std::string display_name() const { return std::string(allocator.traits.display_name); }
  // Bytes of the largest request that the design serves from a fresh pool.
  std::size_t max_request() const { return allocator.functions.max_request(pool_bytes, parameters); }
};

// Requests that may be in use together: one per caller of the geometry.
struct RequestProfile {
  Geometry geometry;
  RequestSizes sizes;

  // Minimum bytes of the pool that the requests take, with the project's alignment of 16 and without headers.
  std::uint64_t bytes() const { return sizes.total_bytes(geometry.callers); }
};

// A workload with its parameters, from which any number of samples can be taken.
class WorkloadRun {
 public:
  virtual ~WorkloadRun() = default;
  // Called before each sample, untimed. Poisons the memory into which the kernels record.
  virtual void prepare() = 0;
  // One repetition. Leaves no blocks if the allocator can free. In verification passes the allocator is an observed
  // one, unless the workload keeps data in its blocks (trait writes_blocks).
  virtual void sample(const AllocatorHandle& allocator, PhaseTimer& timer) = 0;
  // Called after a sample, untimed. Checks the records of the kernels. Throws CellFailure for mistakes that a pointer
  // check cannot find.
  virtual void check_recorded(PointerCheck& check) const = 0;
  // The requests that the leak check repeats.
  virtual RequestProfile requests() const = 0;
  // The largest request of a sample in bytes. Nothing if it is not known in advance.
  virtual std::optional<std::uint64_t> largest_request() const { return std::nullopt; }
  // Per sample, for the ledger of the content check.
  virtual std::uint64_t mallocs_at_most() const = 0;
  // The timed kernels, each with its registers.
  virtual std::vector<KernelInfo> kernels() const = 0;
  // Facts about the requests that are known without counting, for figures (plots/figures/histogram.py).
  virtual std::vector<Histogram> histograms() const { return {}; }
};

// The entry of workload W in the list of all workloads.
template <class W>
WorkloadType workload_type() {
  using Parameters = typename W::Parameters;
  return {.traits = W::traits,
          .parameters = describe_parameters<Parameters>(),
          .unsupported =
              [](const ParameterValues& values, const RunSetting& setting) {
                return W::unsupported(make_parameters<Parameters>(values), setting);
              },
          .open = [](const ParameterValues& values, const RunSetting& setting,
                     simt::Stream& stream) { return W::open(make_parameters<Parameters>(values), setting, stream); }};
}

}  // namespace allocbench
