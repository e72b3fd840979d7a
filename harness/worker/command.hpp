// Commands of the protocol, read from JSON. Everything wrong with one is a BadCommand.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/worker/command_json.hpp"
#include "harness/worker/parameter_json.hpp"
#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// {"allocator":ID,"parameters":{...},"pool_bytes":N}
struct AllocatorRequest {
  const AllocatorType* entry = nullptr;
  ParameterValues parameters;
  std::size_t pool_bytes = 0;
};
AllocatorRequest read_allocator_request(const nlohmann::json& command, const Registry& registry);

// {"workload":ID,"parameters":{...},"seed":N,"state":"fresh"/"reused","warmups":N,"counted_passes":N}
CellRequest read_cell_request(const nlohmann::json& command, const Registry& registry);

// Sum of the phases.
double total_seconds(const Sample& sample);

}  // namespace allocbench::worker
