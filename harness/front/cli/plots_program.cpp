#include "harness/front/cli/plots_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/front/common/errors.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

std::string setting(const char* name, const char* otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr && *given != '\0' ? given : otherwise;
}

// The folder that holds `plots`.
std::string package_folder() {
  const std::string folder = setting("ALLOCBENCH_PLOTS", ALLOCBENCH_SOURCE_FOLDER);
  if (!fs::exists(fs::path(folder) / "plots" / "__main__.py")) {
    throw EnvironmentError(
        fmt::format("The Python package plots is not in {}. Set ALLOCBENCH_PLOTS to the folder that holds it: that of "
                    "a clone of allocbench.",
                    folder));
  }
  return folder;
}

}  // namespace

void become_plots(const std::vector<std::string>& arguments) {
  const std::string folder = package_folder();
  const std::string python = setting("ALLOCBENCH_PYTHON", "/usr/bin/python3");
  const std::string others = setting("PYTHONPATH", "");
  setenv("PYTHONPATH", (others.empty() ? folder : folder + ":" + others).c_str(), 1);

  std::vector<std::string> words = {python, "-m", "plots"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  execvp(python.c_str(), pointers.data());
  throw EnvironmentError(
      fmt::format("{} cannot be started: {}. Install it (apt-get install python3), or set ALLOCBENCH_PYTHON to yours.",
                  python, std::strerror(errno)));
}

}  // namespace allocbench::front
