// These functions convert events to and from JSON. Workers write them, the front end reads them, and the event log
// stores some of their parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/event.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::protocol {

Json to_json(const Event& event);
// Returns the name of the event in JSON.
std::string_view name_of(const Event& event);

Json to_json(const Device& device);
Json to_json(const Checks& checks);
Json to_json(const Counted& counted);

// These functions throw Malformed for wrong JSON. event_from_json() returns nullopt for an event with an unknown name.
std::optional<Event> event_from_json(const Json& json);

Device device_from_json(const Json& json);
Checks checks_from_json(const Json& json);
Counted counted_from_json(const Json& json);
Sample sample_from_json(const Json& json);

}  // namespace allocbench::protocol
