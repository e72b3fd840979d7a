#include "harness/front/log/output_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/event_log.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// These keys may change between a run and its resumption, because they change no measured number.
const std::set<std::string> keys_without_influence = {"$schema", "paper", "description", "plot",
                                                      "assumed", "notes", "claims",      "deadline_s"};

void start_over(const std::string& folder) {
  EventLog lock(events_path(folder));  // fails while another run writes here
  for (const char* name : {"results.csv", "results.json"}) fs::remove(fs::path(folder) / name);
  fs::resize_file(events_path(folder), 0);
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

}  // namespace

std::string default_folder(const Config& config) { return fmt::format("results/{}-{}", config.name, config.backend); }

std::string events_path(const std::string& folder) { return (fs::path(folder) / "events.jsonl").string(); }

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
  if (!exists) return {};
  if (use == FolderUse::start_over) {
    start_over(folder);
    return {};
  }
  std::optional<EventLog> lock;
  if (use == FolderUse::go_on) lock.emplace(path);
  const LogLines lines = read_log_lines(path);
  if (lines.lines.empty() && use == FolderUse::go_on) {
    cut_torn_line(path, lines);  // the run was killed while it wrote the very first line
    return {};
  }
  if (use == FolderUse::begin) {
    std::string state = "a damaged log";
    try {
      const RunHistory history = read_history(lines.lines, path);
      if (history.cells.empty() && !history.without_samples) {
        start_over(folder);  // a run without a cell has nothing to lose
        return {};
      }
      const bool failed = std::any_of(history.cells.begin(), history.cells.end(), [](const CellHistory& cell) {
        return cell.end && counts_as_failure(cell.end->status);
      });
      state =
          fmt::format("a run with {}{}", counted(history.finished(), "finished cell"), failed ? ", some not ok" : "");
    } catch (const UsageError&) {
      // Without --force, a log that cannot be read is not overwritten either.
    }
    throw UsageError(
        fmt::format("{} already contains {}. Use --resume, --only-failed, --force or another --out.", folder, state));
  }
  RunHistory history = read_history(lines.lines, path);
  if (history.without_samples) {
    throw UsageError(fmt::format(
        "{} contains a run that was kept without samples, so it cannot continue. Choose another --out.", folder));
  }
  check_same_run(history, config, folder);
  if (!allow_mixed) check_same_origin(history, origin, folder);
  cut_torn_line(path, lines);
  history.log_bytes = lines.complete_bytes;
  return history;
}

}  // namespace allocbench::front
