#include "harness/worker/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace allocbench::worker {
namespace {

// The parts of NVML's C interface that are used here, by the names and values of its public header.
using Result = int;
using DeviceHandle = void*;
constexpr Result success = 0;
constexpr int clock_sm = 1;
constexpr int temperature_of_gpu = 0;

// Reasons that slow a kernel down against an undisturbed GPU. Idle, application clock settings, sync boost and display
// clocks are states that somebody chose.
constexpr unsigned long long sw_power_cap = 0x4;
constexpr unsigned long long hw_slowdown = 0x8;
constexpr unsigned long long sw_thermal = 0x20;
constexpr unsigned long long hw_thermal = 0x40;
constexpr unsigned long long hw_power_brake = 0x80;
constexpr unsigned long long throttling = sw_power_cap | hw_slowdown | sw_thermal | hw_thermal | hw_power_brake;

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
  if (library_->throttle_reasons(library_->device, &reasons) == success) now.throttled = (reasons & throttling) != 0;
  return now;
}

std::optional<unsigned> Nvml::max_sm_clock_mhz() const {
  unsigned value = 0;
  if (!library_ || library_->max_clock(library_->device, clock_sm, &value) != success) return std::nullopt;
  return value;
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (!library_ || library_->driver_version(text.data(), static_cast<unsigned>(text.size())) != success)
    return std::nullopt;
  return std::string(text.data());
}

}  // namespace allocbench::worker
