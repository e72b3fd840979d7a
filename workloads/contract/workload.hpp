// The contract of a workload.
//
// A workload is a struct with traits and parameters, and a class template over the allocator that runs it. It never
// knows which allocator it runs, and it does its own launches through a PhaseTimer, so that exactly its phases are
// timed.
//
//   struct MyWorkload {
//     struct Parameters { ...; static auto fields(); };
//     static constexpr WorkloadTraits traits{.name = "my_workload", ..., .phases = "alloc free"};
//     // Why this allocator cannot run it; empty when it can. Throws Unsupported for contradictory parameters.
//     template <class A> static std::string unsupported(const Parameters&, const RunSetting<A>&);
//
//     template <class A> class Run {
//      public:
//       Run(const Parameters&, const RunSetting<A>&, simt::Stream&);
//       void prepare();                                   // before each sample, untimed: poisons what the kernels
//       record
//       // One repetition; leaves nothing allocated where the allocator frees. `Caller` is A, or Checked<A> in the
//       // verification pass, but always A where the workload keeps data in its blocks (trait writes_blocks).
//       template <class Caller> void sample(const Caller& allocator, PhaseTimer&);
//       void check_recorded(PointerCheck&) const;         // after a sample, untimed: what its kernels recorded
//       RequestProfile requests() const;                  // what the leak check repeats
//       std::uint64_t mallocs_at_most() const;            // per sample, for the ledger of the content check
//       std::vector<KernelInfo> kernels() const;          // of the timed kernels
//     };
//   };
//
// and one line in workloads/all.hpp. Rules for the kernels: the allocator arrives by value; a thread talks to it
// through attach()/detach() (allocators/contract/session.hpp), so that allocators with per-warp state work; every
// returned pointer is stored where check_recorded() can read it.
#pragma once

#include <cstdint>

#include "allocators/contract/allocator.hpp"
#include "allocators/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/common/geometry.hpp"
#include "workloads/common/request_sizes.hpp"
#include "workloads/contract/phase_timer.hpp"
#include "workloads/contract/traits.hpp"

namespace allocbench {

// What a workload may know about the cell around it.
template <class A>
struct RunSetting {
  std::size_t pool_bytes = 0;
  typename A::Parameters allocator;
  std::uint64_t seed = 0;
};

// Requests that a workload may have live together: one per caller of the geometry.
struct RequestProfile {
  Geometry geometry;
  RequestSizes sizes;

  // Bytes of pool that the requests take at the very least: the project's alignment of 16, no headers.
  std::uint64_t bytes() const { return sizes.total_bytes(geometry.callers); }
};

}  // namespace allocbench
