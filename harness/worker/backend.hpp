// Backend is the device and its stream, as the worker's host code sees them. A worker opens it once. backend_cpu.cpp
// and backend_cuda.cu implement it. All other host code has the same source in both workers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "simt/common.hpp"

namespace simt {
class Stream;
}

namespace allocbench::worker {

struct BackendOptions {
  int device = 0;
  std::optional<std::size_t> device_heap_bytes;     // size of the device heap; empty: the back end's default
  std::uint32_t os_threads = 0;                     // OS threads on the CPU back end; 0: one per core
  std::optional<std::uint64_t> deterministic_seed;  // seed of the CPU executor; empty: OS threads share the work
  std::optional<std::uint64_t> lockstep_seed;       // the same, but the lanes of a warp advance together
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual simt::Stream& stream() = 0;
  virtual simt::DeviceProperties properties() const = 0;
  virtual std::size_t device_heap_bytes() const = 0;
};

// Opens the device and sets its heap before any launch. Throws simt::Fault(environment) if this fails.
std::unique_ptr<Backend> open_backend(const BackendOptions& options);

// Loads the driver and returns the PCI bus id of the device, or an empty text if the id is unknown, as on the CPU back
// end. The function creates no CUDA context, because another worker may be measuring.
std::string pci_bus_id(int device);
// Creates the CUDA context, if there is a GPU. If this fails, open_backend() reports the reason.
void open_context(int device);
// On the CUDA back end, ends the process immediately, because the driver frees its resources. On the CPU back end,
// returns, so destructors run.
void end_at_once();

// Returns "cpu" or "cuda".
std::string backend_name();
// Returns the compiler of the device code, with its version.
std::string compiler_text();

}  // namespace allocbench::worker
