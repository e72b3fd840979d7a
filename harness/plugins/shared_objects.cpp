#include "harness/plugins/shared_objects.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace allocbench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders(const std::string& variant) {
  std::vector<fs::path> result;
  const fs::path built_in = fs::read_symlink("/proc/self/exe").parent_path() / "plugins" / variant;
  if (fs::is_directory(built_in)) result.push_back(built_in);
  const char* const listed = std::getenv("ALLOCBENCH_PLUGINS");
  std::string rest = listed == nullptr ? "" : listed;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path folder = rest.substr(0, colon);
    rest.erase(0, colon + 1);
    if (folder.empty()) continue;
    if (!fs::is_directory(folder)) {
      throw BadPlugin("ALLOCBENCH_PLUGINS names " + folder.string() + ", which is not a folder");
    }
    if (fs::is_directory(folder / variant)) result.push_back(folder / variant);
  }
  return result;
}

}  // namespace

std::vector<fs::path> plugin_files(const std::string& variant) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders(variant)) {
    std::vector<fs::path> here;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".so") here.push_back(entry.path());
    }
    std::sort(here.begin(), here.end());
    files.insert(files.end(), here.begin(), here.end());
  }
  return files;
}

SharedObject::SharedObject(const fs::path& file) : file_(file), handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    throw BadPlugin("cannot load the plug-in " + file.string() + ": " + dlerror() + ". Rebuild it or remove it.");
  }
  const char* const theirs = function<const char*()>("allocbench_plugin_interface")();
  if (std::strcmp(theirs, ALLOCBENCH_PLUGIN_INTERFACE) != 0) {
    throw BadPlugin("the plug-in " + file.string() + " was built for the interface \"" + theirs +
                    "\", this program has \"" ALLOCBENCH_PLUGIN_INTERFACE "\". Rebuild it or remove it.");
  }
}

void* SharedObject::symbol(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (found == nullptr) {
    throw BadPlugin(file_.string() + " is not a plug-in: it does not export " + name + ". Remove it from the folder.");
  }
  return found;
}

}  // namespace allocbench
