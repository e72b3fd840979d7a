// These functions convert the messages between front end and checking workers to and from JSON.
#pragma once

#include "protocol/checker_command.hpp"
#include "protocol/checker_description.hpp"
#include "protocol/checker_event.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::protocol {

Json to_json(const CheckerDescription& checker);
Json to_json(const CheckerCommand& command);
Json to_json(const CheckerEvent& event);

// For wrong JSON, the functions below throw Malformed. checker_from_json() also rejects other versions of the protocol.
CheckerDescription checker_from_json(const Json& json);
CheckerCommand checker_command_from_json(const Json& json);
CheckerEvent checker_event_from_json(const Json& json);

}  // namespace allocbench::protocol
