// This file has a small valid config, copies with one changed key, and the messages of the strict reader for both.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "harness/front/config/config.hpp"
#include "tests/harness/test_catalogue.hpp"

namespace allocbench::front::testing {

using nlohmann::ordered_json;

inline const ordered_json good = {
    {"name", "paper/fig1"}, {"allocators", {"halloc"}}, {"workload", {{"id", "alloc_free"}}}, {"pool_bytes", "1MiB"}};

inline ordered_json with(const char* key, ordered_json value) {
  ordered_json config = good;
  config[key] = std::move(value);
  return config;
}

inline Config read(const ordered_json& json, Problems& problems, const ConfigChanges& changes = {}) {
  return read_config(json.dump(), "test.json", {test_catalogue()}, changes, problems);
}

inline Config read_good(const ordered_json& json, const ConfigChanges& changes = {}) {
  Problems problems;
  Config config = read(json, problems, changes);
  EXPECT_TRUE(problems.empty()) << format_problems("test.json", problems);
  return config;
}

inline std::string complaints(const ordered_json& json) {
  Problems problems;
  read(json, problems);
  return format_problems("test.json", problems);
}

inline std::string one_complaint(const std::string& body) { return "test.json: 1 mistake, nothing was run\n" + body; }

}  // namespace allocbench::front::testing
