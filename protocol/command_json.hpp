// These functions convert commands to and from JSON. The front end writes commands, and workers read them.
#pragma once

#include "protocol/command.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::protocol {

Json to_json(const CellSettings& settings);
Json to_json(const Command& command);

// These functions throw Malformed for wrong JSON. They do not check parameters against their descriptions.
Command command_from_json(const Json& json);
LoadAllocator allocator_request_from_json(const Json& json);
OpenCell cell_request_from_json(const Json& json);

}  // namespace allocbench::protocol
