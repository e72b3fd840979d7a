#include "harness/plugins/shared_objects.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "harness/plugins/elf_file.hpp"
#include "harness/plugins/trial.hpp"

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

constexpr const char* rebuild = ". Rebuild it or remove it.";

BadPlugin unusable(const fs::path& file, const std::string& why) { return BadPlugin(file.string() + ": " + why); }

// An interface is a text such as "check worker, 0.1.0 0123456789ab, GNU 12.2.0, no sanitizer"
// (cmake/plugin_interface.cpp.in).
constexpr const char* worker_word = " worker, ";

// Returns the variant of the worker in an interface text.
std::string worker_in(const std::string& interface) { return interface.substr(0, interface.find(worker_word)); }

// Returns why a plug-in with the interface `theirs` is unusable here, or an empty text.
std::string difference(const std::string& theirs, const std::string& variant) {
  const std::string ours = variant + worker_word + ALLOCBENCH_PLUGIN_INTERFACE;
  if (theirs == ours) return "";
  const std::string worker = worker_in(theirs);
  if (worker != variant && worker + worker_word + ALLOCBENCH_PLUGIN_INTERFACE == theirs) {
    return "it is for allocbench-worker-" + worker + ", this is allocbench-worker-" + variant +
           ". Move it into the folder plugins/" + worker + ", or remove it.";
  }
  return "it was built for the interface \"" + theirs + "\", this program has \"" + ours + "\"" + rebuild;
}

void leave_out_deadly(LoadedFiles& files) {
  std::vector<fs::path> paths;
  for (const SharedObject& object : files.objects) paths.push_back(object.file());
  while (const auto death = death_while_loading(paths)) {
    const auto place = static_cast<std::ptrdiff_t>(death->index);
    const fs::path& file = paths[death->index];
    files.broken.push_back({file, unusable(file, death->how + rebuild).what()});
    files.objects.erase(files.objects.begin() + place);
    paths.erase(paths.begin() + place);
  }
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

SharedObject::SharedObject(fs::path file, const std::string& variant) : file_(std::move(file)) {
  try {
    ElfFile elf(file_);
    const std::optional<std::string> interface = elf.text_of("allocbench_interface");
    if (!interface) throw DamagedFile("it does not say that it is a plug-in");
    if (const std::string why = difference(*interface, variant); !why.empty()) throw unusable(file_, why);
    sources_ = elf.text_of("allocbench_sources").value_or("");
  } catch (const DamagedFile& damage) {
    throw unusable(file_, std::string(damage.what()) + rebuild);
  }
}

void SharedObject::load() {
  handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw unusable(file_, std::string("it cannot be loaded: ") + dlerror() + rebuild);
}

LoadedFiles load_files(const std::vector<fs::path>& files, const std::string& variant, bool in_child_first) {
  LoadedFiles result;
  for (const fs::path& file : files) {
    try {
      result.objects.emplace_back(file, variant);
    } catch (const BadPlugin& bad) {
      result.broken.push_back({file, bad.what()});
    }
  }
  if (in_child_first) leave_out_deadly(result);
  std::erase_if(result.objects, [&](SharedObject& object) {
    try {
      object.load();
      return false;
    } catch (const BadPlugin& bad) {
      result.broken.push_back({object.file(), bad.what()});
      return true;
    }
  });
  return result;
}

void* SharedObject::symbol(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (found == nullptr) {
    throw BadPlugin(file_.string() + ": it is not a plug-in, because it does not export " + name + ". Remove it.");
  }
  return found;
}

}  // namespace allocbench
