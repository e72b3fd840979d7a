// From JSON to values: single ones checked against a parameter's description, and the value lists of axes.
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

// nullopt after adding a problem.
std::optional<ParameterValue> read_value(const nlohmann::ordered_json& json, const ParameterInfo& parameter,
                                         const std::string& pointer, Problems& problems);

// The object {"name": value, ...}; keys that are not parameters are problems, except those the caller reads itself.
ParameterValues read_values(const nlohmann::ordered_json& object, const std::vector<ParameterInfo>& parameters,
                            std::string_view ignored_key, const std::string& pointer, Problems& problems);

// The values of one axis: a list, {"range": [first, last, step]} or {"log2": [first, last]}.
std::vector<ParameterValue> read_axis(const nlohmann::ordered_json& json, const ParameterInfo& parameter,
                                      const std::string& pointer, Problems& problems);

}  // namespace allocbench::front
