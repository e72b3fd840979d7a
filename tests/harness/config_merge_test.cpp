// These tests check that the parts of a config merge as in golden/effective_configs.json.
// tests/plots/runs/test_configs.py checks the plots with the same cases.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/front/config/config.hpp"
#include "tests/harness/golden_file.hpp"

namespace allocbench::front {
namespace {

TEST(ConfigMerge, FollowsTheCases) {
  std::ifstream file(golden_path("effective_configs.json"));
  const auto cases = nlohmann::ordered_json::parse(file);
  ASSERT_GT(cases.size(), 5u);
  for (const auto& each : cases) {
    ConfigChanges changes;
    std::string backend;
    for (const std::string section : each["sections"]) {
      if (section == "full")
        changes.full = true;
      else
        backend = section;
    }
    EXPECT_EQ(nlohmann::json(effective_config(each["config"], backend, changes)), nlohmann::json(each["effective"]))
        << each["says"];
  }
}

}  // namespace
}  // namespace allocbench::front
