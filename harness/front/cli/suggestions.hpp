// This file makes "did you mean" suggestions for a misspelt command, option or config.
#pragma once

#include <string>
#include <vector>

namespace allocbench::front {

// Returns " Did you mean \"study\"?", or an empty text if no valid name is near.
std::string did_you_mean(const std::string& found, const std::vector<std::string>& valid);

// Returns the message for a config that does not exist. `path` may also be a misspelt command.
std::string missing_config(const std::string& path, const std::vector<std::string>& commands);

}  // namespace allocbench::front
