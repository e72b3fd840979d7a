// `worker --describe`: the contents of this worker. Uses no device.
#pragma once

#include "harness/worker/registry.hpp"
#include "protocol/description.hpp"

namespace allocbench::worker {

protocol::WorkerDescription describe(const Registry& registry);

}  // namespace allocbench::worker
