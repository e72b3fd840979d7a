// A config's own scalar keys (pool_bytes, repetitions, deadline_s ...), described like parameters: checked, printed and
// overridden by the same code. The schema is their source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/front/config/config.hpp"

namespace allocbench::front {

const std::vector<ParameterInfo>& config_scalars();
// Those that `overrides` may change for one allocator.
const std::vector<std::string>& overridable_scalars();

// Puts a value into the settings of cells or, for keys that are the config's as a whole, into the config.
void apply_scalar(std::string_view name, const ParameterValue& value, Settings& settings, Config& config);

// Adds a problem where `json`, at `pointer`, leads to settings that want more rounds than there may be.
void check_rounds(const Settings& settings, const nlohmann::ordered_json& json, const std::string& pointer,
                  Problems& problems);

}  // namespace allocbench::front
