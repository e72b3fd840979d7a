// Conditions of a device that disturb times, as sentences.
#pragma once

#include <string>
#include <vector>

#include "protocol/event.hpp"

namespace allocbench::front {

// One sentence for each condition. Empty if the worker found nothing unusual.
std::vector<std::string> warnings_about(const protocol::Device& device);

}  // namespace allocbench::front
