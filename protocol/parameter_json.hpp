// These functions convert parameters to and from JSON.
#pragma once

#include "protocol/json_members.hpp"
#include "protocol/parameter.hpp"

namespace allocbench::protocol {

Json to_json(const ParameterValue& value);
Json to_json(const ParameterValues& values);
Json to_json(const ParameterInfo& info);

// These functions throw Malformed for wrong JSON and for values that no parameter can have: null, objects, negative
// integers, and lists with anything but non-negative integers.
ParameterValue value_from_json(const Json& json);
ParameterValues values_from_json(const Json& object);
ParameterInfo parameter_from_json(const Json& json);

}  // namespace allocbench::protocol
