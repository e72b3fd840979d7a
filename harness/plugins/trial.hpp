// This file loads files in a child process, to find out which file kills the process that loads it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace allocbench {

struct LoadingDeath {
  std::size_t index = 0;  // index of the file
  std::string how;        // a text such as "loading it was ended by SIGSEGV (Segmentation fault)"

  bool operator==(const LoadingDeath&) const = default;
};

// Returns the first death, if there is one. A file that takes more than 20 seconds to load also counts, because an
// alarm then ends the child. Files that only fail to load do not count.
std::optional<LoadingDeath> death_while_loading(const std::vector<std::filesystem::path>& files);

}  // namespace allocbench
