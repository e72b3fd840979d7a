// These functions read clocks, temperature, throttling, energy and settings of a GPU through NVML, the management
// library of the NVIDIA driver. NVML is loaded at run time. A machine without it and the CPU back end get no values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace allocbench::worker {

// A member is empty if its value is unknown.
struct GpuCondition {
  std::optional<unsigned> sm_clock_mhz;
  std::optional<unsigned> temperature_c;
  // Causes of a lower clock: power, heat or a hardware brake. Manually set clocks are not included.
  std::optional<std::vector<std::string>> throttle_reasons;
};

// Nvml answers questions about one GPU. Answers are nullopt if they are unknown.
class Nvml {
 public:
  // Finds the GPU by its PCI bus id, because NVML's order of devices is not CUDA's. An empty id loads nothing.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  GpuCondition condition() const;
  // Returns whether condition() would have a throttle reason. This takes one call of NVML instead of three.
  std::optional<bool> throttled() const;
  // Returns the joules since the driver was loaded.
  std::optional<double> joules() const;
  std::optional<unsigned> max_sm_clock_mhz() const;
  // Returns the clock that an administrator allows under load.
  std::optional<unsigned> sm_clock_limit_mhz() const;
  // Returns the number of other processes that use the GPU. This process must have a context on it.
  std::optional<unsigned> other_processes() const;
  std::optional<bool> mig() const;
  std::optional<bool> ecc() const;
  std::optional<std::string> driver_version() const;
  // Throws simt::MachineFault if the GPU no longer answers: it fell off the bus, or needs a reset.
  void require_gpu() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace allocbench::worker
