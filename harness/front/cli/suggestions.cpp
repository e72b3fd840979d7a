#include "harness/front/cli/suggestions.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "harness/front/common/nearest_name.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".json";

// Returns the name of a config. The name of configs/smoke.json is "smoke". A path with a misspelt extension, such as
// configs/smoke.jsn, has the same name.
std::string name_of(std::string path) {
  for (const std::string_view prefix : {"./", "configs/"}) {
    if (path.starts_with(prefix)) path.erase(0, prefix.size());
  }
  return fs::path(path).replace_extension().string();
}

void add_configs(const fs::path& folder, std::map<std::string, std::string>& path_of) {
  std::error_code error;  // a folder that does not exist has no configs
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string path = entry->path().string();
    if (path.ends_with(extension) && !path.ends_with(".schema.json")) path_of.emplace(name_of(path), path);
    if (entry.depth() == 3) entry.disable_recursion_pending();
  }
}

}  // namespace

std::string did_you_mean(const std::string& found, const std::vector<std::string>& valid) {
  const std::string nearest = nearest_name(found, valid);
  return nearest.empty() ? "" : fmt::format(" Did you mean \"{}\"?", nearest);
}

std::string missing_config(const std::string& path, const std::vector<std::string>& commands) {
  std::map<std::string, std::string> path_of;
  add_configs("configs", path_of);
  std::vector<std::string> names;
  for (const auto& [name, known] : path_of) names.push_back(name);
  const std::string config = nearest_name(name_of(path), names);
  const bool may_be_command = path.find_first_of("/.") == std::string::npos;
  const std::string command = may_be_command ? nearest_name(path, commands) : "";
  if (path == "run")
    return "There is no command \"run\": the config alone is enough, as in `allocbench configs/smoke.json`.";
  std::string text = fmt::format("There is no config{} \"{}\".", may_be_command ? " or command" : "", path);
  if (!command.empty() && (config.empty() || edit_distance(path, command) <= edit_distance(path, config))) {
    return text + fmt::format(" Did you mean the command \"{}\"?", command);
  }
  if (!config.empty()) return text + fmt::format(" Did you mean \"{}\"?", path_of[config]);
  return text + " Configs are in configs/; --help shows the commands.";
}

}  // namespace allocbench::front
