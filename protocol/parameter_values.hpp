// This file finds, checks and converts parameter values in host code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/parameter.hpp"

namespace allocbench::protocol {

const ParameterValue* find_value(const ParameterValues& values, std::string_view name);
// Replaces the value with that name, or appends it.
void assign_value(ParameterValues& values, std::string_view name, ParameterValue value);

std::string_view word(ParameterType type);

// Turns an integer into a number if the type is number, because some JSON writers print 2.0 as 2. Other values are not
// changed.
ParameterValue converted(ParameterValue value, ParameterType type);

// Returns whether a value has the type of a parameter and obeys its bounds, its choices and its limit to powers of two.
bool allows(const ParameterInfo& info, const ParameterValue& value);

// Returns an integer or a number as a double, by which cells are sorted. Returns nullopt for other types.
std::optional<double> magnitude(const ParameterValue& value);

}  // namespace allocbench::protocol
