// A golden file has the output that a test must give, byte by byte. After an intended change, run
// ALLOCBENCH_UPDATE_GOLDEN=1 ctest -R Golden, and read the difference before you commit it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace allocbench::front {

inline std::string golden_path(const std::string& name) { return std::string(ALLOCBENCH_GOLDEN_FOLDER) + "/" + name; }

inline void expect_golden(const std::string& name, const std::string& text) {
  if (std::getenv("ALLOCBENCH_UPDATE_GOLDEN") != nullptr) std::ofstream(golden_path(name), std::ios::binary) << text;
  std::ifstream file(golden_path(name), std::ios::binary);
  const std::string expected(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, expected) << "differs from " << golden_path(name);
}

}  // namespace allocbench::front
