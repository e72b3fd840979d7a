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

// An integer is also a valid value of a parameter of type number, because JSON writers print 2.0 as 2.
ParameterValue converted(ParameterValue value, ParameterType type);

// Checks type, bounds, choices and powers of two.
bool allows(const ParameterInfo& info, const ParameterValue& value);

// Returns the value as a number if it is one, so that a sweep can grow along it.
std::optional<double> magnitude(const ParameterValue& value);

}  // namespace allocbench::protocol
