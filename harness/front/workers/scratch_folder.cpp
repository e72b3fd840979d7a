#include "harness/front/workers/scratch_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

constexpr const char* variable = "ALLOCBENCH_SCRATCH";
constexpr const char* beginning = "allocbench-run-";

// Locks a folder and returns its descriptor. The lock ends with this process. The result is -1 if another process has
// the lock, or if the folder cannot be opened.
int lock_of(const fs::path& folder) {
  const int lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  close(lock);
  return -1;
}

// Removes the folders that killed runs left behind.
void remove_left_over(const fs::path& temporary) {
  std::error_code error;
  for (fs::directory_iterator entry(temporary, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().rfind(beginning, 0) != 0) continue;
    const int lock = lock_of(entry->path());
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
    close(lock);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  unsetenv(variable);
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (error) return;
  remove_left_over(temporary);
  std::string name = (temporary / (std::string(beginning) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) return;
  path_ = name;
  lock_ = lock_of(path_);
  setenv(variable, name.c_str(), 1);
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  unsetenv(variable);
  std::error_code error;
  fs::remove_all(path_, error);
  if (lock_ >= 0) close(lock_);
}

}  // namespace allocbench::front
