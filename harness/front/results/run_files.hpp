// These functions find the files of runs that a user names by folders, single files or patterns. The files may be
// packed (.gz, .xz).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace allocbench::front {

// Returns one file per run, in a stable order. A named file is returned itself. For a folder, each run in or below it
// gives its event log, or its results.json if it has no log. Throws UsageError if the argument matches no run.
std::vector<std::filesystem::path> run_files(const std::string& argument);

// Returns the event log of this file's run: the file itself, or a log in the same folder. Returns nullopt if there is
// neither.
std::optional<std::filesystem::path> log_of(const std::filesystem::path& file);
// Returns the results.json in the folder of an event log, or nullopt if there is none.
std::optional<std::filesystem::path> results_beside(const std::filesystem::path& log);

bool is_log(const std::filesystem::path& file);
bool is_packed(const std::filesystem::path& file);

}  // namespace allocbench::front
