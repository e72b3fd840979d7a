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

// A loaded plug-in; stays loaded until the process ends.
class SharedObject {
 public:
  // Loads the file. Throws BadPlugin when it is not a shared object or was built for another interface.
  explicit SharedObject(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }
  // An exported function of type `Function*`. Throws BadPlugin.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  std::filesystem::path file_;
  void* handle_;
};

// The files *.so of the folders `variant` ("cpu", "cuda", "check", "tsan"): first in plugins/ beside this program, then
// in every folder that the environment variable ALLOCBENCH_PLUGINS lists, separated by colons. In the order of their
// names. A folder of that list that does not exist is a BadPlugin.
std::vector<std::filesystem::path> plugin_files(const std::string& variant);

}  // namespace allocbench
