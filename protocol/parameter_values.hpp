// What host code does with parameter values: finding, checking, converting.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/parameter.hpp"

namespace allocbench::protocol {

const ParameterValue* find_value(const ParameterValues& values, std::string_view name);
// Replaces the value of that name, or adds it at the end.
void assign_value(ParameterValues& values, std::string_view name, ParameterValue value);

std::string_view word(ParameterType type);

// A whole number is a value of a parameter of type number too: JSON writers print 2.0 as 2.
ParameterValue converted(ParameterValue value, ParameterType type);

// Type, bounds, choices and powers of two.
bool allows(const ParameterInfo& info, const ParameterValue& value);

// Numbers only: what a sweep can grow along.
std::optional<double> magnitude(const ParameterValue& value);

}  // namespace allocbench::protocol
