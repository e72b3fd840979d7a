// This file has the contract of a workload.
//
// A workload has two halves. Plug-ins compile the device half, kernels.hpp, for their allocators. The host half is
// compiled once and launches these kernels through an AllocatorHandle, so it does not depend on the type of the
// allocator:
//
//   using MyKernels = KernelList<KernelOn<AllocKernel, Geometry, FixedSize, void**>, ...>;   // kernels.hpp
//
//   struct MyWorkload {                                                                      // my_workload.hpp
//     struct Parameters { ...; static auto fields(); };
//     static constexpr WorkloadTraits traits{.name = "my_workload", ..., .phases = "alloc free"};
//     // Returns why this allocator cannot run the workload, or an empty text.
//     // Throws std::invalid_argument for parameters that contradict each other.
//     static std::string unsupported(const Parameters&, const RunSetting&);
//     // May throw CellFailure and simt::Fault.
//     static std::unique_ptr<WorkloadRun> open(const Parameters&, const RunSetting&, simt::Stream&);
//   };
//
// A new workload needs a folder and a line in workloads/CMakeLists.txt. Kernels receive the allocator by value. A
// thread calls it between attach() and detach() (allocators/support/contract/session.hpp), because some allocators keep
// a state per warp. Kernels must store the returned pointers, or facts about them, for check_recorded().
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
  ParameterValues parameters = {};  // parameters of the allocator
  std::uint64_t seed = 0;

  const Traits& traits() const { return allocator.traits; }
  std::string display_name() const { return std::string(allocator.traits.display_name); }
  // Returns the bytes of the largest request that the design serves from a fresh pool.
  std::size_t max_request() const { return allocator.functions.max_request(pool_bytes, parameters); }
};

// Requests that may be in use together, one per caller of the geometry.
struct RequestProfile {
  Geometry geometry;
  RequestSizes sizes;

  // Returns the smallest number of pool bytes that the requests take, with an alignment of 16 and without headers.
  std::uint64_t bytes() const { return sizes.total_bytes(geometry.callers); }
};

// A workload with its parameters, which can run any number of samples.
class WorkloadRun {
 public:
  virtual ~WorkloadRun() = default;
  // Poisons the memory into which the kernels record. The harness calls this function before each sample, untimed.
  virtual void prepare() = 0;
  // Runs one repetition. It leaves no blocks if the allocator can free and is not reset afterwards. In verification
  // passes the allocator is an observed one, unless the workload keeps data in its blocks (trait writes_blocks).
  virtual void sample(const AllocatorHandle& allocator, PhaseTimer& timer) = 0;
  // Checks the records of the kernels. The harness calls this function after a sample, untimed. Throws CellFailure for
  // mistakes that a pointer check cannot find.
  virtual void check_recorded(PointerCheck& check) const = 0;
  // Returns the requests that the leak check repeats.
  virtual RequestProfile requests() const = 0;
  // Returns the largest request of a sample in bytes, or nothing if it is not known in advance.
  virtual std::optional<std::uint64_t> largest_request() const { return std::nullopt; }
  // Returns the largest number of mallocs per sample, for the ledger of the content check.
  virtual std::uint64_t mallocs_at_most() const = 0;
  // Returns the timed kernels and those of WorkloadTraits::untimed_kernels, each with its registers.
  virtual std::vector<KernelInfo> kernels() const = 0;
  // Returns facts about the requests that are known without counting, for figures (plots/figures/histogram.py).
  virtual std::vector<Histogram> histograms() const { return {}; }
};

// Returns the entry of workload W in the list of all workloads.
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
