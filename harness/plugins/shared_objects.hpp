// Finds and loads the shared objects of plug-ins.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace allocbench {

// A file that cannot be used as a plug-in; the text names it, the reason and what to do.
class BadPlugin : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A plug-in's file; once loaded it stays so until the process ends.
class SharedObject {
 public:
  // Reads what the file says about itself. Throws BadPlugin when it is damaged, no plug-in, or one for another worker
  // than `variant` or another interface.
  SharedObject(std::filesystem::path file, const std::string& variant);
  // Throws BadPlugin.
  void load();

  const std::filesystem::path& file() const { return file_; }
  // Which sources it was built from, as protocol/sources.hpp reads it.
  const std::string& sources() const { return sources_; }
  // An exported function of type `Function*`. Throws BadPlugin.
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
  std::string reason;  // names the file and says what to do
};

struct LoadedFiles {
  std::vector<SharedObject> objects;
  std::vector<BrokenFile> broken;
};

// Loads the files that can be loaded. With `in_child_first` a file that kills a process that loads it is among the
// broken ones; without, it kills this one.
LoadedFiles load_files(const std::vector<std::filesystem::path>& files, const std::string& variant,
                       bool in_child_first);

// The files *.so of the folders `variant` ("cpu", "cuda", "check", "tsan"): first in plugins/ beside this program, then
// in every folder that the environment variable ALLOCBENCH_PLUGINS lists, separated by colons. In the order of their
// names. A folder of that list that does not exist is a BadPlugin.
std::vector<std::filesystem::path> plugin_files(const std::string& variant);

}  // namespace allocbench
