// What --dry-run prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/front/plan/plan.hpp"

namespace allocbench::front {

// device_heap_bytes holds one value per batch, where the worker could be asked.
std::string describe_plan(const Plan& plan, const std::vector<std::optional<std::uint64_t>>& device_heap_bytes);

}  // namespace allocbench::front
