// ScratchFolder is a temporary folder for data that the workers of a run share, such as inputs that take long to
// prepare.
#pragma once

#include <filesystem>

namespace allocbench::front {

// The folder is in the system's folder for temporary files. Workers get its path in the environment variable
// ALLOCBENCH_SCRATCH. The run removes the folder at its end, and the next run removes the folder of a killed run. If
// the folder cannot be created, workers do not use one.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // descriptor of the folder, locked while this process runs
};

}  // namespace allocbench::front
