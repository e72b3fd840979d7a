// This file reads values from JSON: single values, which are checked against the description of a parameter, and the
// value lists of axes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/front/common/problems.hpp"
#include "harness/front/config/catalogue.hpp"
#include "protocol/parameter.hpp"

namespace allocbench::front {

// Reads one value. Returns nullopt after adding a problem.
std::optional<ParameterValue> read_value(const nlohmann::ordered_json& json, const ParameterInfo& parameter,
                                         const std::string& pointer, Problems& problems);

// Reads the object {"name": value, ...}. Keys that are not parameters are problems, except `ignored_key`, which the
// caller reads.
ParameterValues read_values(const nlohmann::ordered_json& object, const std::vector<ParameterInfo>& parameters,
                            std::string_view ignored_key, const std::string& pointer, Problems& problems);

// Reads the values of one axis: a list, {"range": [first, last, step]} or {"log2": [first, last]}.
std::vector<ParameterValue> read_axis(const nlohmann::ordered_json& json, const ParameterInfo& parameter,
                                      const std::string& pointer, Problems& problems);

}  // namespace allocbench::front
