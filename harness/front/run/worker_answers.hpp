// What makes a worker's answer well formed. Checked before anything is logged: one malformed line in the event log
// would make the whole run unreadable.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace allocbench::front {

// The event's name; empty for what is no event.
std::string event_kind(const nlohmann::ordered_json& event);

// Events that end a command. Others may come before them and are passed over.
bool is_final_event(std::string_view kind);

// Empty, or what is wrong with an event of a known kind.
std::string complaint_about(const nlohmann::ordered_json& event);

}  // namespace allocbench::front
