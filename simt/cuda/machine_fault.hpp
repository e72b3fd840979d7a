// A Fault that no code on the device can cause: the hardware, the driver or another process failed while it ran.
#pragma once

#include <string>

#include "simt/common.hpp"

namespace simt {

class MachineFault : public Fault {
 public:
  explicit MachineFault(const std::string& text) : Fault(FaultKind::environment, text) {}
};

}  // namespace simt
