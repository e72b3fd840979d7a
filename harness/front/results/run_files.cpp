#include "harness/front/results/run_files.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/log/output_folder.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// The files that a run may have, the preferred one first.
constexpr std::array<std::string_view, 2> file_names = {"events.jsonl", "results.json"};

std::optional<fs::path> run_in(const fs::path& folder) {
  for (const std::string_view name : file_names) {
    if (const auto file = packed_or_not(folder, name)) return file;
  }
  return std::nullopt;
}

std::vector<fs::path> runs_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (const auto file = run_in(folder)) files.push_back(*file);
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (!entry.is_directory()) continue;
    if (const auto file = run_in(entry.path())) files.push_back(*file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> matches_of(const std::string& pattern) {
  glob_t found = {};
  std::vector<fs::path> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

bool ends_with(const fs::path& file, std::string_view extension) {
  const std::string name = (is_packed(file) ? file.stem() : file.filename()).string();
  return name.ends_with(extension);
}

constexpr std::string_view what_to_name =
    "Name a folder of runs, an events.jsonl or results.json (also as .gz or .xz), or a quoted pattern of such paths";

}  // namespace

bool is_packed(const fs::path& file) { return file.extension() == ".gz" || file.extension() == ".xz"; }

bool is_log(const fs::path& file) { return ends_with(file, ".jsonl"); }

std::optional<fs::path> log_of(const fs::path& file) {
  if (is_log(file)) return file;
  return packed_or_not(file.parent_path(), file_names.front());
}

std::optional<fs::path> results_beside(const fs::path& log) {
  return packed_or_not(log.parent_path(), file_names.back());
}

std::vector<fs::path> run_files(const std::string& argument) {
  const std::vector<fs::path> named = fs::exists(argument) ? std::vector<fs::path>{argument} : matches_of(argument);
  if (named.empty()) {
    const std::string nearest = nearest_folder(argument);
    throw UsageError(fmt::format("{} does not exist and matches no file.{} {}.", argument,
                                 nearest.empty() ? "" : fmt::format(" Did you mean {}?", nearest), what_to_name));
  }
  std::vector<fs::path> files;
  for (const fs::path& path : named) {
    if (fs::is_directory(path)) {
      const std::vector<fs::path> below = runs_below(path);
      files.insert(files.end(), below.begin(), below.end());
    } else if (is_log(path) || ends_with(path, ".json")) {
      files.push_back(path);
    } else {
      throw UsageError(fmt::format("{} is not a results file of allocbench. {}.", path.string(), what_to_name));
    }
  }
  if (files.empty()) throw UsageError(fmt::format("{} contains no run. {}.", argument, what_to_name));
  return files;
}

}  // namespace allocbench::front
