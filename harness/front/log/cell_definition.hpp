// What defines a cell, as events and results.json both have it.
#pragma once

#include "harness/front/log/run_history.hpp"
#include "harness/protocol/json_members.hpp"

namespace allocbench::front {

// Throws protocol::Malformed where a member is missing or of another type.
void read_definition(CellHistory& cell, const protocol::Json& json);

}  // namespace allocbench::front
