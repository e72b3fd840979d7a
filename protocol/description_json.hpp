// These functions convert the answer to --describe to and from JSON. Workers write it, and the front end reads it.
#pragma once

#include "protocol/description.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::protocol {

Json to_json(const AllocatorDescription& allocator);
Json to_json(const WorkloadDescription& workload);
Json to_json(const MetricDescription& metric);
Json to_json(const std::vector<BrokenPlugin>& plugins);
// The JSON includes the version of the protocol.
Json to_json(const WorkerDescription& worker);

// These functions throw Malformed for wrong JSON. worker_from_json() also refuses another version of the protocol.
MetricDescription metric_from_json(const Json& json);
WorkerDescription worker_from_json(const Json& json);
// Reads the unusable plug-ins from the description `json`. Returns nothing if the member is missing.
std::vector<BrokenPlugin> broken_plugins_from_json(const Json& json);

// Throws Malformed unless the object has this version of the protocol.
void require_version(const Json& json);

}  // namespace allocbench::protocol
