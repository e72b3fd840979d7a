#include "harness/front/run/scratch_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

namespace allocbench::front {
namespace {

constexpr const char* variable = "ALLOCBENCH_SCRATCH";

}  // namespace

ScratchFolder::ScratchFolder() {
  unsetenv(variable);
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "allocbench-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) return;
  path_ = name;
  setenv(variable, name.c_str(), 1);
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  unsetenv(variable);
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace allocbench::front
