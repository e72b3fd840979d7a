// `worker --describe`: what this worker holds. Touches no device.
#pragma once

#include "harness/protocol/description.hpp"
#include "harness/worker/registry.hpp"

namespace allocbench::worker {

protocol::WorkerDescription describe(const Registry& registry);

}  // namespace allocbench::worker
