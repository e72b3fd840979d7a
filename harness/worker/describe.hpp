// `worker --describe` prints this description: the allocators, workloads, metrics and plug-ins of the worker. The
// command uses no device.
#pragma once

#include "harness/worker/registry.hpp"
#include "protocol/description.hpp"

namespace allocbench::worker {

protocol::WorkerDescription describe(const Registry& registry);

}  // namespace allocbench::worker
