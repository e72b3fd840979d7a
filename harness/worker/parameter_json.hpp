// Parameters across the JSON border, checked against their descriptions.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "allocators/contract/parameters.hpp"
#include "harness/worker/command_json.hpp"

namespace allocbench::worker {

// One parameter as `--describe` prints it.
nlohmann::ordered_json describe(const ParameterInfo& info);

// The values given in a JSON object; parameters that it leaves out keep their defaults. Throws BadCommand for a name,
// type or value that the descriptions do not allow; `owner` names whose parameters they are.
ParameterValues read_parameters(const nlohmann::json& object, const std::vector<ParameterInfo>& infos,
                                const std::string& owner);

}  // namespace allocbench::worker
