#include "harness/front/log/output_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/event_log.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// These keys may change between a run and its resumption, because they change no measured number.
const std::set<std::string> keys_without_influence = {"$schema", "paper", "description", "plot",
                                                      "assumed", "notes", "claims",      "deadline_s"};

constexpr std::string_view name_of_log = "events.jsonl";
constexpr std::string_view name_of_results = "results.json";
constexpr std::array<std::string_view, 3> endings = {"", ".xz", ".gz"};  // endings of packed files

void start_over(const std::string& folder) {
  EventLog lock(events_path(folder));  // fails while another run writes here
  for (const std::string_view name : {name_of_log, name_of_results, std::string_view("results.csv")}) {
    for (const std::string_view ending : endings) {
      if (name == name_of_log && ending.empty()) continue;  // the lock holds this file
      fs::remove(fs::path(folder) / fmt::format("{}{}", name, ending));
    }
  }
  fs::resize_file(events_path(folder), 0);
}

// Returns the file of a run that a new events.jsonl would hide or whose results would be overwritten: a packed file, or
// results.json unless `has_log`, because results.json then comes from this log.
std::optional<fs::path> stored_run(const fs::path& folder, bool has_log) {
  for (const std::string_view name : {name_of_log, name_of_results}) {
    for (const std::string_view ending : endings) {
      if (ending.empty() && (name == name_of_log || has_log)) continue;
      if (const fs::path file = folder / fmt::format("{}{}", name, ending); fs::exists(file)) return file;
    }
  }
  return std::nullopt;
}

UsageError without_samples(const std::string& folder) {
  return UsageError(fmt::format(
      "{} contains a run that was kept without samples, so it cannot continue. Choose another --out.", folder));
}

// Throws UsageError if the folder has a stored run, which can neither begin again nor continue.
void require_no_stored_run(const std::string& folder, FolderUse use, bool has_log) {
  const auto file = stored_run(folder, has_log);
  if (!file) return;
  const std::string name = file->filename().string();
  if (use == FolderUse::begin) {
    throw UsageError(fmt::format("{} already contains a run ({}). Use --force or another --out.", folder, name));
  }
  if (!name.starts_with(name_of_log)) {
    throw UsageError(
        fmt::format("{} contains a run without an event log (only {}), so it cannot continue. Choose another --out.",
                    folder, name));
  }
  if (read_history(read_log_lines(file->string()).lines, file->string()).without_samples) throw without_samples(folder);
  throw UsageError(
      fmt::format("{} contains a packed run, which cannot continue. Unpack it first with {} {}, or choose another "
                  "--out.",
                  folder, name.ends_with(".gz") ? "gunzip" : "unxz", quoted(file->string())));
}

void check_same_run(const RunHistory& history, const Config& config, const std::string& folder) {
  if (history.backend != config.backend) {
    throw UsageError(fmt::format("{} contains a run on the {} back end, but this run is on {}. Choose another --out.",
                                 folder, history.backend, config.backend));
  }
  const auto keys = differing_keys(*history.config, *config.effective);
  if (!keys.empty()) {
    throw UsageError(fmt::format(
        "{} contains a run of another config: {} differ{}. Undo the change, choose another --out, or use --force.",
        folder, fmt::join(keys, ", "), keys.size() == 1 ? "s" : ""));
  }
}

// A figure must not mix revisions, cards, drivers or options of the CPU executor unless the user allows it.
void check_same_origin(const RunHistory& history, const Origin& now, const std::string& folder) {
  for (const CellHistory& cell : history.cells) {
    const Origin* const earlier = cell.measured_origin();
    const auto differs = earlier != nullptr ? difference(*earlier, now) : std::nullopt;
    if (!differs) continue;
    throw UsageError(
        fmt::format("{} was measured with {}, but this run would use {}. Run with {} again, choose another --out, or "
                    "pass --allow-mixed (every figure then says so).",
                    folder, differs->earlier, differs->now, differs->earlier));
  }
}

// Returns what a log contains, or an empty text if it has nothing to lose: no cell, or no cell that had time.
std::string content_of(const LogLines& lines, const std::string& path) {
  try {
    const RunHistory history = read_history(lines.lines, path);
    const bool untouched = std::all_of(history.cells.begin(), history.cells.end(), [](const CellHistory& cell) {
      return cell.end && !cell.end->is_final() && cell.rounds.empty();
    });
    if (untouched && !history.without_samples) return "";
    const bool failed = std::any_of(history.cells.begin(), history.cells.end(), [](const CellHistory& cell) {
      return cell.end && counts_as_failure(cell.end->status);
    });
    return fmt::format("a run with {}{}", counted(history.finished(), "finished cell"), failed ? ", some not ok" : "");
  } catch (const UsageError&) {
    return "a damaged log";  // without --force, a log that cannot be read is not overwritten either
  }
}

// Deletes a log that has nothing to lose. Throws UsageError if the folder has another log.
void begin_again(const LogLines& lines, const std::string& folder) {
  const std::string content = content_of(lines, events_path(folder));
  if (!content.empty()) {
    throw UsageError(
        fmt::format("{} already contains {}. Use --resume, --only-failed, --force or another --out.", folder, content));
  }
  require_no_stored_run(folder, FolderUse::begin, true);
  start_over(folder);
}

}  // namespace

std::string default_folder(const Config& config) { return fmt::format("results/{}-{}", config.name, config.backend); }

std::string events_path(const std::string& folder) { return (fs::path(folder) / name_of_log).string(); }

std::optional<fs::path> packed_or_not(const fs::path& folder, std::string_view name) {
  for (const std::string_view ending : endings) {
    const fs::path file = folder / fmt::format("{}{}", name, ending);
    if (fs::exists(file)) return file;  // reading refuses what is not a regular file
  }
  return std::nullopt;
}

std::vector<std::string> differing_keys(const nlohmann::ordered_json& config,
                                        const nlohmann::ordered_json& other_config) {
  // These copies have sorted keys, because the order of keys in a file has no meaning.
  const nlohmann::json one = config;
  const nlohmann::json other = other_config;
  std::set<std::string> keys;
  for (const auto& [from, to] : {std::pair{&one, &other}, std::pair{&other, &one}}) {
    for (const auto& [key, value] : from->items()) {
      if (keys_without_influence.contains(key)) continue;
      if (!to->contains(key) || (*to)[key] != value) keys.insert(key);
    }
  }
  return {keys.begin(), keys.end()};
}

void require_free_log(const std::string& folder) {
  const std::string path = events_path(folder);
  if (fs::exists(path)) EventLog{path};
}

RunHistory prepare_folder(const std::string& folder, FolderUse use, const Config& config, const Origin& origin,
                          bool allow_mixed) {
  create_folder(folder);
  const std::string path = events_path(folder);
  if (fs::exists(path) && !fs::is_regular_file(path)) {
    throw UsageError(fmt::format("{} must be a regular file. Remove this path, or choose another --out.", path));
  }
  const bool exists = fs::exists(path) && fs::file_size(path) > 0;
  if (use == FolderUse::start_over) {
    if (exists || stored_run(folder, exists)) start_over(folder);
    return {};
  }
  if (!exists) {
    require_no_stored_run(folder, use, exists);
    return {};
  }
  std::optional<EventLog> lock;
  if (use == FolderUse::go_on) lock.emplace(path);
  const LogLines lines = read_log_lines(path);
  if (lines.lines.empty() && use == FolderUse::go_on) {
    require_no_stored_run(folder, use, exists);
    cut_torn_line(path, lines);  // the run was killed while it wrote the very first line
    return {};
  }
  if (use == FolderUse::begin) {
    begin_again(lines, folder);
    return {};
  }
  RunHistory history = read_history(lines.lines, path);
  if (history.without_samples) throw without_samples(folder);
  check_same_run(history, config, folder);
  if (!allow_mixed) check_same_origin(history, origin, folder);
  cut_torn_line(path, lines);
  history.log_bytes = lines.complete_bytes;
  return history;
}

}  // namespace allocbench::front
