// This file describes conditions of a device that disturb times.
#pragma once

#include <string>
#include <vector>

#include "protocol/event.hpp"

namespace allocbench::front {

// Returns one sentence for each condition, or nothing if the worker found nothing unusual.
std::vector<std::string> warnings_about(const protocol::Device& device);

}  // namespace allocbench::front
