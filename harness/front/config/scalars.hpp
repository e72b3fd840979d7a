// This file describes a config's own scalar keys (pool_bytes, repetitions, deadline_s ...) like parameters, so that the
// same code checks, prints and overrides both. The schema defines these keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/front/config/config.hpp"

namespace allocbench::front {

const std::vector<ParameterInfo>& config_scalars();
// Returns the keys that `overrides` may change for one allocator.
const std::vector<std::string>& overridable_scalars();

// Stores a value in the settings of cells or, for keys of the whole config, in the config.
void apply_scalar(std::string_view name, const ParameterValue& value, Settings& settings, Config& config);

// Adds a problem if `least_rounds` exceeds `rounds` in the settings and `json`, at `pointer`, has one of these keys.
void check_rounds(const Settings& settings, const nlohmann::ordered_json& json, const std::string& pointer,
                  Problems& problems);

}  // namespace allocbench::front
