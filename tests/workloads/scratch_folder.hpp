// ScratchFolder is the folder that the processes of a run share, with files that a test puts there.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace allocbench::test {

class ScratchFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "scratch-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    setenv("ALLOCBENCH_SCRATCH", name.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("ALLOCBENCH_SCRATCH");
    std::filesystem::remove_all(folder_);
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }

  std::filesystem::path folder_;
};

}  // namespace allocbench::test
