// This file finds and loads the shared objects of plug-ins.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace allocbench {

// Reports a file that is unusable as a plug-in, or a missing folder of plug-ins. For a file, the text has the file, the
// reason and the next step.
class BadPlugin : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The file of a plug-in. Once loaded, it stays loaded until the process ends.
class SharedObject {
 public:
  // Reads interface and sources from the file, without loading it. Throws BadPlugin if the file is damaged, is not a
  // plug-in, is not for the worker `variant`, or has an interface that differs from this program's.
  SharedObject(std::filesystem::path file, const std::string& variant);
  // Loads the file. Throws BadPlugin if this fails.
  void load();

  const std::filesystem::path& file() const { return file_; }
  // Returns the sources of the file, as text that protocol/sources.hpp parses.
  const std::string& sources() const { return sources_; }
  // Returns an exported function of type `Function*`. Throws BadPlugin if there is none.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  std::filesystem::path file_;
  std::string sources_;
  void* handle_ = nullptr;
};

struct BrokenFile {
  std::filesystem::path file;
  std::string reason;  // file, reason and next step
};

struct LoadedFiles {
  std::vector<SharedObject> objects;
  std::vector<BrokenFile> broken;
};

// Loads all usable files. With `in_child_first`, a child process loads the files first, so a file that kills the
// loading process, or loads too slowly (trial.hpp), is reported as broken. Otherwise such a file kills or delays this
// process.
LoadedFiles load_files(const std::vector<std::filesystem::path>& files, const std::string& variant,
                       bool in_child_first);

// Returns the files plugins/`variant`/*.so next to this program, then FOLDER/`variant`/*.so for each FOLDER in the
// environment variable ALLOCBENCH_PLUGINS, a list separated by colons. `variant` is "cpu", "cuda", "check" or "tsan".
// The files of each folder are sorted by name. Throws BadPlugin if a FOLDER is not an existing folder.
std::vector<std::filesystem::path> plugin_files(const std::string& variant);

}  // namespace allocbench
