#include "harness/front/workers/device_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace allocbench::front {

std::vector<std::string> warnings_about(const protocol::Device& device) {
  std::vector<std::string> warnings;
  if (device.sm_clock_limit_mhz && device.sm_clock_max_mhz && *device.sm_clock_limit_mhz < *device.sm_clock_max_mhz) {
    warnings.push_back(fmt::format("Clocks are limited to {} MHz of at most {} MHz, so times will be longer.",
                                   *device.sm_clock_limit_mhz, *device.sm_clock_max_mhz));
  }
  if (device.throttle_reasons && !device.throttle_reasons->empty()) {
    warnings.push_back(fmt::format("The device throttles ({}), so times will be longer and vary more.",
                                   fmt::join(*device.throttle_reasons, ", ")));
  }
  if (device.other_processes.value_or(0) > 0) {
    warnings.push_back(fmt::format("{} other process{} use{} the device and disturb{} the times.",
                                   *device.other_processes, *device.other_processes == 1 ? "" : "es",
                                   *device.other_processes == 1 ? "s" : "", *device.other_processes == 1 ? "s" : ""));
  }
  if (device.mig.value_or(false)) {
    warnings.push_back("MIG is on, so the device is part of a card. The kept results were measured on whole cards.");
  }
  if (device.ecc && !*device.ecc) {
    warnings.push_back("ECC is off, so memory may be faster than on the cards of the kept results.");
  }
  return warnings;
}

}  // namespace allocbench::front
