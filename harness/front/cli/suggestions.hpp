// "Did you mean": what a misspelt command, option or config may mean.
#pragma once

#include <string>
#include <vector>

namespace allocbench::front {

// " Did you mean \"study\"?", or nothing where no valid name is near.
std::string did_you_mean(const std::string& found, const std::vector<std::string>& valid);

// The message about a config that does not exist; `path` may be a misspelt command as well.
std::string missing_config(const std::string& path, const std::vector<std::string>& commands);

}  // namespace allocbench::front
