// The output folder of a run has events.jsonl and the files made from it. This code decides whether a run may start or
// continue in this folder.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/front/config/config.hpp"
#include "harness/front/log/run_history.hpp"

namespace allocbench::front {

enum class FolderUse {
  begin,      // the folder must not contain a run with cells, a stored or packed run, or a damaged log
  go_on,      // --resume and --only-failed: the log must belong to this config, and must not be packed
  start_over  // --force: an old run is deleted, also a packed one
};

// Returns results/<name>-<backend>, below the current folder.
std::string default_folder(const Config& config);

std::string events_path(const std::string& folder);

// Returns the file with this name, or its packed form (.xz, .gz). Returns nullopt if the folder has neither.
std::optional<std::filesystem::path> packed_or_not(const std::filesystem::path& folder, std::string_view name);

// Throws EnvironmentError if the folder has a log that another run writes to, or that cannot be written.
void require_free_log(const std::string& folder);

// Creates the folder and returns the history from its log (empty for a new run). Before a run continues, a torn last
// line is removed. A continued run must have the origin of the existing results, unless `allow_mixed`. Throws
// UsageError if the folder does not allow this use, and EnvironmentError if it cannot be written.
RunHistory prepare_folder(const std::string& folder, FolderUse use, const Config& config, const Origin& origin,
                          bool allow_mixed);

// Returns the top-level keys in which two configs differ, without keys that change no measured number.
std::vector<std::string> differing_keys(const nlohmann::ordered_json& config,
                                        const nlohmann::ordered_json& other_config);

}  // namespace allocbench::front
