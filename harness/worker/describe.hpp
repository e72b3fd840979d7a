// `worker --describe` prints the contents of this worker. It uses no device.
#pragma once

#include "harness/worker/registry.hpp"
#include "protocol/description.hpp"

namespace allocbench::worker {

protocol::WorkerDescription describe(const Registry& registry);

}  // namespace allocbench::worker
