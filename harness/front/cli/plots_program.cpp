#include "harness/front/cli/plots_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/io.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_python = "/usr/bin/python3";

std::string setting(const char* name, const char* otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr && *given != '\0' ? given : otherwise;
}

// Returns the folder that contains `plots`.
std::string package_folder() {
  const std::string folder = setting("ALLOCBENCH_PLOTS", ALLOCBENCH_SOURCE_FOLDER);
  if (!fs::exists(fs::path(folder) / "plots" / "__main__.py")) {
    throw EnvironmentError(fmt::format(
        "{} does not contain the Python package plots. Set ALLOCBENCH_PLOTS to a clone of allocbench.", folder));
  }
  return folder;
}

// Makes the package importable and returns Python's path.
std::string prepare_python() {
  const std::string folder = package_folder();
  const std::string others = setting("PYTHONPATH", "");
  setenv("PYTHONPATH", (others.empty() ? folder : folder + ":" + others).c_str(), 1);
  return setting("ALLOCBENCH_PYTHON", default_python);
}

// Replaces this program by Python. The first word of the command is Python's path.
[[noreturn]] void become(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  execvp(pointers.front(), pointers.data());
  throw EnvironmentError(fmt::format(
      "Cannot start {}: {}. Install it (apt-get install python3), or set ALLOCBENCH_PYTHON to another Python.",
      words.front(), std::strerror(errno)));
}

}  // namespace

void become_plots(const std::vector<std::string>& arguments) {
  const std::string python = prepare_python();
  setenv("ALLOCBENCH_STARTED_PLOTS", "1", 1);  // errors then name the command of allocbench (plots/commands/called.py)
  std::vector<std::string> words = {python, "-m", "plots"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  become(std::move(words));
}

void become_tool(const std::string& name, const std::vector<std::string>& arguments) {
  const fs::path tool = fs::path(setting("ALLOCBENCH_PLOTS", ALLOCBENCH_SOURCE_FOLDER)) / "tools" / name;
  if (!fs::exists(tool)) {
    throw EnvironmentError(fmt::format(
        "There is no {}. Set ALLOCBENCH_PLOTS to the clone that allocbench was built from.", tool.string()));
  }
  std::vector<std::string> words = {setting("ALLOCBENCH_PYTHON", default_python), "-B", tool.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  become(std::move(words));
}

bool draw_figures(const std::vector<std::string>& folders) {
  if (folders.empty()) return true;
  const std::size_t processes =
      std::min<std::size_t>(folders.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::vector<std::string>> shares(processes, {"-m", "plots"});
  for (std::size_t i = 0; i < folders.size(); ++i) shares[i % processes].push_back(folders[i]);
  bool drawn = true;
  try {
    const std::string python = prepare_python();
    std::vector<boost::process::child> children;
    for (const auto& arguments : shares) {
      children.emplace_back(python, boost::process::args(arguments), boost::process::std_out > stderr);
    }
    for (boost::process::child& child : children) {
      child.wait();
      drawn = drawn && child.exit_code() == 0;
    }
  } catch (const std::exception& error) {
    tell("allocbench: warning: no figures: {}\n", error.what());
    return false;
  }
  return drawn;
}

}  // namespace allocbench::front
