// This file describes conditions of a device that change or disturb times.
#pragma once

#include <string>
#include <vector>

#include "protocol/event.hpp"

namespace allocbench::front {

// Returns one warning for each condition, or nothing if the worker found nothing unusual.
std::vector<std::string> warnings_about(const protocol::Device& device);

}  // namespace allocbench::front
