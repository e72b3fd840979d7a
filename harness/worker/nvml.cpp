#include "harness/worker/nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "simt/cuda/errors.hpp"
#include "simt/cuda/machine_fault.hpp"

namespace allocbench::worker {
namespace {

// This is the part of NVML's C interface that is used here. The values are those of NVML's public header.
using Result = int;
using DeviceHandle = void*;
constexpr Result success = 0;
constexpr Result gpu_is_lost = 15;
constexpr Result reset_required = 16;
constexpr int clock_sm = 1;
constexpr int temperature_of_gpu = 0;

// These reasons count as throttling, because they slow a kernel down compared with an undisturbed GPU. Idle,
// application clock settings, sync boost and display clocks do not count.
struct ThrottleReason {
  unsigned long long bit;
  const char* name;
};
constexpr std::array<ThrottleReason, 5> throttling = {{{0x4, "power cap"},
                                                       {0x8, "hardware slowdown"},
                                                       {0x20, "heat (driver)"},
                                                       {0x40, "heat (hardware)"},
                                                       {0x80, "power brake"}}};

// The struct nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
constexpr Result insufficient_size = 7;

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  bool initialised = false;
  DeviceHandle device = nullptr;

  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  Result (*find_device)(const char*, DeviceHandle*) = nullptr;
  Result (*clock)(DeviceHandle, int, unsigned*) = nullptr;
  Result (*max_clock)(DeviceHandle, int, unsigned*) = nullptr;
  Result (*temperature)(DeviceHandle, int, unsigned*) = nullptr;
  Result (*throttle_reasons)(DeviceHandle, unsigned long long*) = nullptr;
  Result (*driver_version)(char*, unsigned) = nullptr;
  // These functions are not available in every driver or for every GPU.
  Result (*application_clock)(DeviceHandle, int, unsigned*) = nullptr;
  Result (*processes)(DeviceHandle, unsigned*, ProcessInfo*) = nullptr;
  Result (*mig_mode)(DeviceHandle, unsigned*, unsigned*) = nullptr;
  Result (*ecc_mode)(DeviceHandle, unsigned*, unsigned*) = nullptr;
  Result (*energy)(DeviceHandle, unsigned long long*) = nullptr;

  template <class Function>
  bool load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }

  bool open(const std::string& pci_bus_id) {
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    const bool complete = load(init, "nvmlInit_v2") && load(shutdown, "nvmlShutdown") &&
                          load(find_device, "nvmlDeviceGetHandleByPciBusId_v2") &&
                          load(clock, "nvmlDeviceGetClockInfo") && load(max_clock, "nvmlDeviceGetMaxClockInfo") &&
                          load(temperature, "nvmlDeviceGetTemperature") &&
                          load(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons") &&
                          load(driver_version, "nvmlSystemGetDriverVersion");
    load(application_clock, "nvmlDeviceGetApplicationsClock");
    load(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    load(mig_mode, "nvmlDeviceGetMigMode");
    load(ecc_mode, "nvmlDeviceGetEccMode");
    load(energy, "nvmlDeviceGetTotalEnergyConsumption");
    if (!complete || init() != success) return false;
    initialised = true;
    return find_device(pci_bus_id.c_str(), &device) == success;
  }

  ~Library() {
    if (initialised) shutdown();
    if (handle != nullptr) dlclose(handle);
  }
};

Nvml::Nvml(const std::string& pci_bus_id) {
  if (pci_bus_id.empty()) return;
  auto library = std::make_unique<Library>();
  if (library->open(pci_bus_id)) library_ = std::move(library);
}

Nvml::~Nvml() = default;

GpuCondition Nvml::condition() const {
  GpuCondition now;
  if (!library_) return now;
  unsigned value = 0;
  if (library_->clock(library_->device, clock_sm, &value) == success) now.sm_clock_mhz = value;
  if (library_->temperature(library_->device, temperature_of_gpu, &value) == success) now.temperature_c = value;
  unsigned long long reasons = 0;
  if (library_->throttle_reasons(library_->device, &reasons) == success) {
    now.throttle_reasons.emplace();
    for (const ThrottleReason& each : throttling) {
      if ((reasons & each.bit) != 0) now.throttle_reasons->push_back(each.name);
    }
  }
  return now;
}

std::optional<bool> Nvml::throttled() const {
  unsigned long long reasons = 0;
  if (!library_ || library_->throttle_reasons(library_->device, &reasons) != success) return std::nullopt;
  return std::any_of(throttling.begin(), throttling.end(),
                     [&](const ThrottleReason& each) { return (reasons & each.bit) != 0; });
}

std::optional<double> Nvml::joules() const {
  unsigned long long millijoules = 0;
  if (!library_ || library_->energy == nullptr || library_->energy(library_->device, &millijoules) != success) {
    return std::nullopt;
  }
  return static_cast<double>(millijoules) * 1e-3;
}

std::optional<unsigned> Nvml::max_sm_clock_mhz() const {
  unsigned value = 0;
  if (!library_ || library_->max_clock(library_->device, clock_sm, &value) != success) return std::nullopt;
  return value;
}

std::optional<unsigned> Nvml::sm_clock_limit_mhz() const {
  unsigned value = 0;
  if (!library_ || library_->application_clock == nullptr ||
      library_->application_clock(library_->device, clock_sm, &value) != success) {
    return std::nullopt;
  }
  return value;
}

// NVML's list includes this worker. In a container the list has the process ids of the host, so the worker cannot find
// itself, and one process is subtracted.
std::optional<unsigned> Nvml::other_processes() const {
  if (!library_ || library_->processes == nullptr) return std::nullopt;
  std::array<ProcessInfo, 64> list{};
  auto count = static_cast<unsigned>(list.size());
  const Result result = library_->processes(library_->device, &count, list.data());
  if ((result != success && result != insufficient_size) || count == 0) return std::nullopt;
  return count - 1;
}

std::optional<bool> Nvml::mig() const {
  unsigned now = 0;
  unsigned later = 0;
  if (!library_ || library_->mig_mode == nullptr || library_->mig_mode(library_->device, &now, &later) != success) {
    return std::nullopt;
  }
  return now != 0;
}

std::optional<bool> Nvml::ecc() const {
  unsigned now = 0;
  unsigned later = 0;
  if (!library_ || library_->ecc_mode == nullptr || library_->ecc_mode(library_->device, &now, &later) != success) {
    return std::nullopt;
  }
  return now != 0;
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (!library_ || library_->driver_version(text.data(), static_cast<unsigned>(text.size())) != success)
    return std::nullopt;
  return std::string(text.data());
}

void Nvml::require_gpu() const {
  if (!library_) return;
  unsigned value = 0;
  const Result result = library_->temperature(library_->device, temperature_of_gpu, &value);
  if (result != gpu_is_lost && result != reset_required) return;
  throw simt::MachineFault(
      std::string(result == gpu_is_lost ? "NVML: the GPU is lost. " : "NVML: the GPU needs a reset. ") +
      simt::cuda_advice::reset);
}

}  // namespace allocbench::worker
