// `worker --describe` prints this description: the allocators, workloads and metrics of the worker. It uses no device.
#pragma once

#include "harness/worker/registry.hpp"
#include "protocol/description.hpp"

namespace allocbench::worker {

protocol::WorkerDescription describe(const Registry& registry);

}  // namespace allocbench::worker
