// This file finds and reads input files (data/README.md).
#pragma once

#include <filesystem>
#include <string>

namespace allocbench {

// Returns the full path of a file such as "graphs/kma_64k.txt.gz". Searches the folder that the environment variable
// ALLOCBENCH_DATA names, then data/ in the working directory, then data/ in this program's source tree. Throws
// std::invalid_argument with all these places if none has the file.
std::filesystem::path find_data_file(const std::string& name);

// Returns whether find_data_file() would find the file.
bool has_data_file(const std::string& name);

// Returns the content of a file, decompressed if gzip compressed it. Throws std::invalid_argument if the
// file cannot be opened or is damaged.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace allocbench
