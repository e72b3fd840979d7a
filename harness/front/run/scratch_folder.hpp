// A folder for what the workers of a run share, such as inputs that take long to prepare.
#pragma once

#include <filesystem>

namespace allocbench::front {

// It lies in the system's folder for temporary files, and the environment variable ALLOCBENCH_SCRATCH names it to
// workers. The run removes it at its end; the next run removes that of a killed run. Where none can be made, workers do
// without.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // descriptor of the folder, locked as long as this process lives
};

}  // namespace allocbench::front
