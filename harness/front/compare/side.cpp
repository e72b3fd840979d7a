#include "harness/front/compare/side.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "harness/front/common/errors.hpp"
#include "harness/front/compare/stored_results.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/protocol/parameter_values.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// What to read of a run, best first: the log has everything.
constexpr std::array<std::string_view, 4> file_names = {"events.jsonl", "events.jsonl.gz", "results.json",
                                                        "results.json.gz"};

std::optional<fs::path> run_in(const fs::path& folder) {
  for (const std::string_view name : file_names) {
    if (fs::is_regular_file(folder / name)) return folder / name;
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

constexpr std::string_view what_to_name =
    "Name a folder of runs, an events.jsonl or a results.json (packed with .gz or not), or a pattern of these in "
    "quotes";

std::vector<fs::path> runs_of(const std::string& argument) {
  const std::vector<fs::path> named = fs::exists(argument) ? std::vector<fs::path>{argument} : matches_of(argument);
  if (named.empty())
    throw UsageError(fmt::format("{} does not exist, and no file matches it. {}.", argument, what_to_name));
  std::vector<fs::path> files;
  for (const fs::path& path : named) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const std::vector<fs::path> below = runs_below(path);
    files.insert(files.end(), below.begin(), below.end());
  }
  if (files.empty()) throw UsageError(fmt::format("{} contains no run. {}.", argument, what_to_name));
  return files;
}

bool is_log(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.gz");
}

bool is_document(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

ComparedCell compared(const Results& results, const CellResult& result) {
  const CellHistory& cell = result.cell;
  ComparedCell made;
  made.id = cell.id;
  made.name = cell_name(results.figure, cell);
  made.allocator = cell.label;
  made.backend = cell.backend;
  made.statistic = results.statistic;
  made.status = result.status();
  made.reason = cell.end->short_reason();
  for (const PhaseResult& phase : result.phases) made.phases.push_back({phase.name, phase.rounds});
  made.definition = {{"allocator", cell.allocator},
                     {"workload", cell.workload},
                     {"pool_bytes", std::to_string(cell.pool_bytes)},
                     {"backend", cell.backend},
                     {"seed", std::to_string(cell.seed)},
                     {"state", cell.state}};
  for (const auto& [name, value] : cell.allocator_parameters) made.definition["allocator/" + name] = to_text(value);
  for (const auto& [name, value] : cell.workload_parameters) made.definition["workload/" + name] = to_text(value);
  return made;
}

// The rounds of a second run of the same cell; a failure stays one.
void merge(ComparedCell& into, ComparedCell&& other) {
  if (into.status != Status::ok) return;
  if (other.status != Status::ok) {
    into = std::move(other);
    return;
  }
  for (ComparedPhase& phase : other.phases) {
    const auto same = std::find_if(into.phases.begin(), into.phases.end(),
                                   [&](const ComparedPhase& each) { return each.name == phase.name; });
    if (same == into.phases.end()) {
      into.phases.push_back(std::move(phase));
    } else {
      same->rounds.insert(same->rounds.end(), phase.rounds.begin(), phase.rounds.end());
    }
  }
}

// Older logs do not tell all of it.
void add_origin(Side& side, const Origin& origin) {
  const auto add = [](std::set<std::string>& set, const std::string& text) {
    if (!text.empty()) set.insert(text);
  };
  add(side.devices, origin.device);
  add(side.cards, origin.device_uuid);
  add(side.drivers, origin.driver_version);
  add(side.revisions, origin.sources.revision);
  side.dirty = side.dirty || origin.sources.dirty.value_or(false);
}

}  // namespace

std::vector<Results> read_runs(const std::string& argument) {
  std::vector<Results> runs;
  for (const fs::path& file : runs_of(argument)) {
    if (!is_log(file) && !is_document(file)) {
      throw UsageError(fmt::format("{} is not a file of a run. {}.", file.string(), what_to_name));
    }
    runs.push_back(is_log(file) ? reduce(read_history(read_log_lines(file.string()).lines, file.string()))
                                : read_stored_results(file.string()));
  }
  return runs;
}

Side side_of(const std::string& argument, const std::vector<Results>& runs) {
  Side side{.argument = argument};
  std::map<std::string, std::size_t> places;
  for (const Results& results : runs) {
    side.figures.insert(results.figure);
    side.not_measured += results.not_measured;
    for (const CellResult& result : results.cells) {
      add_origin(side, result.cell.origin);
      ComparedCell cell = compared(results, result);
      const auto [place, added] = places.emplace(cell.id, side.cells.size());
      if (added) {
        side.cells.push_back(std::move(cell));
      } else {
        merge(side.cells[place->second], std::move(cell));
      }
    }
  }
  if (side.cells.empty()) {
    throw UsageError(fmt::format("No cell of {} was measured. Continue the run with --resume.", argument));
  }
  return side;
}

}  // namespace allocbench::front
