// This file makes the text of --dry-run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/front/plan/plan.hpp"

namespace allocbench::front {

// Describes the plan. `device_heap_bytes` has one value per batch, or nullopt if the worker did not answer.
std::string describe_plan(const Plan& plan, const std::vector<std::optional<std::uint64_t>>& device_heap_bytes);

}  // namespace allocbench::front
