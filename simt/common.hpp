// Both back ends share these definitions: the function qualifier, memory orders, steps, launch shapes and errors.
//
// Code that runs on a "device" (a CUDA GPU or the CPU executor) is marked SIMT_FN, SIMT_NOINLINE_FN or SIMT_HOST_FN. If
// it uses its calling thread, the type of the thread is a template parameter. Outside simt/, device code must use
// neither CUDA built-ins nor the C library's allocator. The compiler determines the back end: nvcc gives CUDA, and any
// other compiler gives the CPU executor unless SIMT_HOST_OF_CUDA is defined. A program must not mix the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#if defined(__CUDACC__)
#define SIMT_CUDA 1
#define SIMT_FN __device__ __forceinline__
#define SIMT_NOINLINE_FN __device__ __noinline__
#define SIMT_HOST_FN __host__ __device__ __forceinline__
#define SIMT_ROLLED _Pragma("unroll 1")
#define SIMT_UNROLLED _Pragma("unroll")
#else
// With this macro the host compiler can compile host code of the CUDA back end if the code defines no kernel.
#if defined(SIMT_HOST_OF_CUDA)
#define SIMT_CUDA 1
#else
#define SIMT_CUDA 0
#endif
#define SIMT_FN inline
#define SIMT_NOINLINE_FN [[gnu::noinline]] inline
#define SIMT_HOST_FN inline
#define SIMT_ROLLED    // stands before a loop whose body (a call of an allocator) must not be copied
#define SIMT_UNROLLED  // stands before a loop over an array that must stay in registers
#endif

#if defined(__CUDACC__)
static_assert(__cplusplus >= 202002L, "device code is C++20: pass -std=c++20 to nvcc");
#endif

namespace simt {

// Number of lanes of a warp, on every back end. Allocators may rely on this number.
inline constexpr std::uint32_t warp_size = 32;

// LaneMask has one bit per lane of the calling warp. Bit i stands for lane i.
using LaneMask = std::uint32_t;
inline constexpr LaneMask full_warp = 0xffffffffu;

// Memory orders are types, so the compiler knows the order of each call and can select the PTX instruction for it.
struct Relaxed {};
struct Acquire {};
struct Release {};
struct AcqRel {};
inline constexpr Relaxed relaxed{};
inline constexpr Acquire acquire{};
inline constexpr Release release{};
inline constexpr AcqRel acq_rel{};

// Space is the memory of an atomic word. Global words have device scope, and shared words have block scope.
enum class Space { global, shared };

// Steps are named points inside an allocator. A thread object that wraps another one (CountingThread) counts them. The
// plain thread ignores them.
enum class Step : std::uint32_t {
  attempt,  // an attempt to claim a unit (page, chunk, block)
  retry,    // a claim that lost against another thread and starts again
  walk,     // a move to the next candidate of a search
  split,    // the division of a unit
  merge,    // the union of two units
  wrap,     // the return of a search or a bump pointer from the end of the pool to its start
  count_of_steps
};

// Notes are numbers that an allocator reports. A thread object that wraps another one (CountingThread) keeps the last
// number of each kind. The plain thread ignores notes.
enum class Note : std::uint32_t {
  ticket,      // ticket of a queue: requests with smaller tickets are served first
  pages_seen,  // free pages that a lane found in the first round of a collaborative search
  count_of_notes
};

// LaunchShape is a one-dimensional grid.
struct LaunchShape {
  std::uint32_t blocks = 1;
  std::uint32_t threads_per_block = 1;
  std::size_t shared_bytes = 0;  // dynamic shared memory per block
};

// CUDA allows no more threads per block.
inline constexpr std::uint32_t max_threads_per_block = 1024;

// PackedPlace is the position of a kernel argument in the bytes that the entry of a KernelFamily receives
// (simt/cuda/kernel_entry.hpp).
struct PackedPlace {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};
inline constexpr std::uint32_t max_packed_bytes = 2048;
inline constexpr std::uint32_t max_packed_alignment = 16;

// KernelPointer is a compiled kernel without its argument types. `kernel_pointer<Kernel, Args...>()` of the back end
// creates it, or KernelFamily::pointer() for a member of a family. A launch must pass arguments of exactly the types
// `Args`. The pointer is null if there is no kernel.
struct KernelPointer {
  const void* entry = nullptr;
  // If the back end has one entry for all members of a family, these fields describe the member: its number, and the
  // positions of the kernel object and of each argument.
  std::uint32_t member = 0;
  const PackedPlace* places = nullptr;

  explicit operator bool() const { return entry != nullptr; }
};

// FamilyMember is a kernel of a KernelFamily (simt/kernels.hpp).
template <class Kernel, class... Args>
struct FamilyMember {};

// KernelAttributes has the resources of a compiled kernel. A resource that the back end does not have is zero, for
// example registers on the CPU.
struct KernelAttributes {
  int registers = 0;
  std::size_t static_shared_bytes = 0;
  std::size_t local_bytes = 0;
};

// DeviceProperties has the facts of a device that are stored with results.
struct DeviceProperties {
  std::string name;
  std::string compute_capability;  // number such as "9.0"; empty on the CPU
  std::string driver;              // version text; empty on the CPU
  std::string toolkit;             // CUDA runtime version or compiler of the CPU back end
  std::string uuid;                // empty on the CPU
  std::string pci_bus_id;          // address for NVML; empty on the CPU
  std::uint32_t sm_count = 0;      // number of SMs; virtual SMs on the CPU
  std::uint32_t max_threads_per_sm = 0;
  std::size_t memory_bytes = 0;
  std::size_t free_memory_bytes = 0;
  std::size_t l2_bytes = 0;
};

// FaultKind is the reason why a call into a back end failed.
enum class FaultKind {
  environment,    // no device, an old driver, too few host resources, or a wrong option or argument
  out_of_memory,  // the device cannot provide the requested memory
  device_fault,   // trap, illegal address or misaligned access; the device state is lost
  mask_error,     // a warp operation used against its contract (CPU executor)
  deadlock,       // all live lanes of a block or launch wait at collectives that cannot complete (CPU executor)
  livelock,       // lanes spin on words that no lane changes (CPU executor)
  budget,         // the step budget of the launch was used up while words still changed (CPU executor)
  exception,      // device code threw (CPU executor)
  failed_check,   // an oracle in device code found a wrong result (CPU executor)
  nondeterminism  // a replay took different steps, so they depend on more than the seed (CPU executor)
};

// Returns the enumerator's own name.
constexpr const char* fault_kind_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::environment:
      return "environment";
    case FaultKind::out_of_memory:
      return "out_of_memory";
    case FaultKind::device_fault:
      return "device_fault";
    case FaultKind::mask_error:
      return "mask_error";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::livelock:
      return "livelock";
    case FaultKind::budget:
      return "budget";
    case FaultKind::exception:
      return "exception";
    case FaultKind::failed_check:
      return "failed_check";
    case FaultKind::nondeterminism:
      return "nondeterminism";
  }
  return "?";
}

class Fault : public std::runtime_error {
 public:
  Fault(FaultKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  FaultKind kind() const { return kind_; }

 private:
  FaultKind kind_;
};

}  // namespace simt
