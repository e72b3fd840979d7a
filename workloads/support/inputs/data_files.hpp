// Input files of the repository's data/ folder.
#pragma once

#include <filesystem>
#include <string>

namespace allocbench {

// Full path of a file such as "graphs/kma_64k.txt.gz". Searches the folder of the environment variable ALLOCBENCH_DATA,
// then data/ of the working directory, then data/ of the source tree of this program. Throws std::invalid_argument with
// all these places if none has the file.
std::filesystem::path find_data_file(const std::string& name);

// Whether find_data_file() would find it.
bool has_data_file(const std::string& name);

// The content of a file, unpacked if gzip packed it. Throws std::invalid_argument.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace allocbench
