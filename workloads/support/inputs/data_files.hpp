// Input files of the repository's data/ folder.
#pragma once

#include <filesystem>
#include <string>

namespace allocbench {

// Full path of a file such as "graphs/kma_64k.txt.gz". Looks in the folder that the environment variable
// ALLOCBENCH_DATA names, then in data/ of the working directory, then in data/ of the source tree that this program was
// built from. Throws std::invalid_argument, with all places, when none has it.
std::filesystem::path find_data_file(const std::string& name);

// Whether find_data_file() would find it.
bool has_data_file(const std::string& name);

// The content of a file, unpacked if gzip packed it. Throws std::invalid_argument.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace allocbench
