// The files of runs that a user names: folders, single files, patterns; packed (.gz, .xz) or not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace allocbench::front {

// One file per run, in a stable order: its event log, or its results.json if there is no log. Throws UsageError if the
// argument matches no run.
std::vector<std::filesystem::path> run_files(const std::string& argument);

// The event log of the run of this file: the file itself, or a log in the same folder.
std::optional<std::filesystem::path> log_of(const std::filesystem::path& file);
// The results.json in the folder of an event log.
std::optional<std::filesystem::path> results_beside(const std::filesystem::path& log);

bool is_log(const std::filesystem::path& file);
bool is_packed(const std::filesystem::path& file);

}  // namespace allocbench::front
