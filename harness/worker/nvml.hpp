// Clocks, temperature and throttling of a GPU through NVML, the management library of the NVIDIA driver. It is loaded
// at run time: a machine without it, and the CPU back end, simply get no values.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace allocbench::worker {

// Every member is empty where it cannot be known.
struct GpuCondition {
  std::optional<unsigned> sm_clock_mhz;
  std::optional<unsigned> temperature_c;
  std::optional<bool> throttled;  // power, heat or a hardware brake held the clock down
};

class Nvml {
 public:
  // The GPU is found by PCI bus id, because NVML's order of devices is not CUDA's. An empty id loads nothing.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  GpuCondition condition() const;
  std::optional<unsigned> max_sm_clock_mhz() const;
  std::optional<std::string> driver_version() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace allocbench::worker
