// MachineFault is a Fault that no device code can cause: the hardware, the driver or another process failed during the
// run.
#pragma once

#include <string>

#include "simt/common.hpp"

namespace simt {

class MachineFault : public Fault {
 public:
  explicit MachineFault(const std::string& text) : Fault(FaultKind::environment, text) {}
};

}  // namespace simt
