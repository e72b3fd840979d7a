// `worker --describe`: what this worker holds, as one JSON object. Touches no device.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/worker/registry.hpp"

namespace allocbench::worker {

inline constexpr int protocol_version = 1;

nlohmann::ordered_json describe(const Registry& registry);

}  // namespace allocbench::worker
