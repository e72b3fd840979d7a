// The folder of a run: events.jsonl and what is made from it. Decides whether a run may start or continue here.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/front/config/config.hpp"
#include "harness/front/log/run_history.hpp"

namespace allocbench::front {

enum class FolderUse {
  begin,      // must hold no run
  go_on,      // --resume, --only-failed: its log must belong to this config
  start_over  // --force: an old run is deleted
};

// results/<name>-<backend>, below the current folder.
std::string default_folder(const Config& config);

std::string events_path(const std::string& folder);

// Creates the folder and returns what its log says so far (empty for a new run); a torn last line is cut off. Throws
// UsageError when the folder does not allow that use, EnvironmentError when it cannot be written.
// A run that goes on must have the origin of what is there, unless `allow_mixed`.
RunHistory prepare_folder(const std::string& folder, FolderUse use, const Config& config, const Origin& origin,
                          bool allow_mixed);

// The top-level keys in which two configs differ as far as measured numbers go; for the message and for tests.
std::vector<std::string> differing_keys(const nlohmann::ordered_json& config,
                                        const nlohmann::ordered_json& other_config);

}  // namespace allocbench::front
