// What about a device can spoil times, in plain words.
#pragma once

#include <string>
#include <vector>

#include "protocol/event.hpp"

namespace allocbench::front {

// One sentence each; empty when nothing that the worker could ask is unusual.
std::vector<std::string> warnings_about(const protocol::Device& device);

}  // namespace allocbench::front
