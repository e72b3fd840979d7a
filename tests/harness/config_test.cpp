// These tests check the results of the strict reader of configs. config_errors_test.cpp tests its messages about
// mistakes.
#include <gtest/gtest.h>

#include "protocol/parameter_values.hpp"
#include "tests/harness/config_cases.hpp"

namespace allocbench::front {
namespace {

using testing::good;
using testing::ordered_json;
using testing::read_good;
using testing::with;

TEST(Config, FillsDefaults) {
  const Config config = read_good(good);
  EXPECT_EQ(config.name, "paper/fig1");
  ASSERT_EQ(config.allocators.size(), 1u);
  const Settings& settings = config.allocators[0].settings;
  EXPECT_EQ(settings.pool_bytes, 1u << 20);
  EXPECT_EQ(settings.repetitions, 5u);
  EXPECT_EQ(settings.cell.warmups, 1u);
  EXPECT_EQ(settings.cell.state, protocol::StartState::fresh);
  EXPECT_EQ(*protocol::find_value(settings.workload_parameters, "request_bytes"), ParameterValue(std::uint64_t{16}));
  EXPECT_EQ(config.seed, 1u);
}

TEST(Config, AllLeavesOutTestOnlyAllocators) {
  const Config config = read_good(with("allocators", {"all"}));
  ASSERT_EQ(config.allocators.size(), 2u);
  EXPECT_EQ(config.allocators[1].id, "scatteralloc");
}

TEST(Config, AllLeavesOutDelayedForms) {
  Catalogue catalogue = testing::test_catalogue();
  catalogue.allocators[0].form = "delayed";
  Problems problems;
  const Config config = read_config(with("allocators", {"all"}).dump(), "test.json", {catalogue}, {}, problems);
  ASSERT_EQ(config.allocators.size(), 1u);
  EXPECT_EQ(config.allocators[0].id, "scatteralloc");
}

TEST(Config, ASetStandsForItsAllocators) {
  Catalogue catalogue = testing::test_catalogue();
  for (const char* name : {"rw", "rw_bm"}) {
    catalogue.allocators.push_back(testing::make_allocator(name, {testing::page_bytes_parameter()}));
  }
  const auto read_set = [&](const testing::ordered_json& set, Problems& problems) {
    return read_config(with("allocators", {"halloc", set}).dump(), "test.json", {catalogue}, {}, problems);
  };
  testing::ordered_json set = {{"set", "one_size"}, {"parameters", {{"page_bytes", 64}}}};
  set["without"] = {"rw_reworked", "rw_bm_reworked", "crw",          "crw_reworked",
                    "corw",        "corw_reworked",  "simple_queue", "simple_queue_reworked"};
  Problems none;
  const Config config = read_set(set, none);
  EXPECT_TRUE(none.empty()) << format_problems("test.json", none);
  ASSERT_EQ(config.allocators.size(), 3u);
  EXPECT_EQ(config.allocators[2].id, "rw_bm");
  EXPECT_EQ(to_text(config.allocators[2].parameters.back().second), "64");
  EXPECT_EQ((*config.effective)["allocators"][1].dump(), R"({"id":"rw","parameters":{"page_bytes":64}})");

  // A mistake of all members is reported once, at the place of the set.
  set["parameters"] = {{"page_bytse", 64}};
  Problems once;
  read_set(set, once);
  ASSERT_EQ(once.list().size(), 1u);
  EXPECT_EQ(once.list()[0].where, "/allocators/1/parameters/page_bytse");
}

TEST(Config, LabelsAllocatorsThatAreListedTwice) {
  const Config config = read_good(
      with("allocators", {"scatteralloc",
                          {{"id", "scatteralloc"}, {"parameters", {{"page_bytes", "8KiB"}}}},
                          {{"id", "scatteralloc"}, {"parameters", {{"page_bytes", 64}}}, {"label", "tiny pages"}}}));
  ASSERT_EQ(config.allocators.size(), 3u);
  EXPECT_EQ(config.allocators[0].label, "scatteralloc");
  EXPECT_EQ(config.allocators[1].label, "scatteralloc(page_bytes=8192)");
  EXPECT_EQ(config.allocators[2].label, "tiny pages");
}

TEST(Config, ExpandsAxes) {
  const Config config = read_good(with("sweep", {{"request_bytes", {{"log2", {4, "64B"}}}},
                                                 {"share", {{"range", {0.1, 0.3, 0.1}}}},
                                                 {"pool_bytes", {"1MiB", 2097152}},
                                                 {"lanes", {{1, 2}, {4}}}}));
  ASSERT_EQ(config.sweep.size(), 4u);
  EXPECT_EQ(config.sweep[0].axes[0].values.size(), 5u);
  EXPECT_EQ(config.sweep[0].axes[0].values.back(), ParameterValue(std::uint64_t{64}));
  EXPECT_EQ(config.sweep[1].axes[0].values.size(), 3u);
  EXPECT_EQ(config.sweep[2].axes[0].values[1], ParameterValue(std::uint64_t{1} << 21));
  EXPECT_EQ(config.sweep[3].axes[0].values[0], ParameterValue(std::vector<std::uint64_t>{1, 2}));
}

TEST(Config, MergesTheSectionOfItsBackEnd) {
  ordered_json json = good;
  json["sweep"] = {{"request_bytes", {{"range", {16, 64, 16}}}}};
  json["cpu"] = {
      {"workload", {{"blocks", 8}}}, {"sweep", {{"request_bytes", {{"log2", {4, 8}}}}}}, {"overrides", nullptr}};
  json["cuda"] = {{"workload", {{"blocks", 1000}}}};
  json["overrides"] = {{"halloc", {{"repetitions", 2}}}};
  const Config config = read_good(json);
  EXPECT_EQ(*protocol::find_value(config.allocators[0].settings.workload_parameters, "blocks"),
            ParameterValue(std::uint64_t{8}));
  EXPECT_EQ(config.sweep[0].axes[0].values.size(), 2u);
  const auto& effective = *config.effective;
  EXPECT_FALSE(effective.contains("cpu") || effective.contains("cuda") || effective.contains("overrides"));
}

TEST(Config, MergesItsFullPartWhereThatIsAskedFor) {
  ordered_json json = good;
  json["sweep"] = {{"request_bytes", {16, 64}}};
  json["cpu"] = {{"sweep", {{"request_bytes", ordered_json::array({16})}}}, {"repetitions", 2}};
  json["full"] = {{"sweep", {{"request_bytes", {{"range", {16, 160, 16}}}}}}};
  const auto points = [&](const ConfigChanges& changes) {
    const Config config = read_good(json, changes);
    EXPECT_EQ(config.allocators[0].settings.repetitions, 2u);
    EXPECT_FALSE(config.effective->contains("full"));
    return config.sweep[0].axes[0].values.size();
  };
  EXPECT_EQ(points({}), 1u);
  EXPECT_EQ(points({.full = true}), 10u);
}

TEST(Config, OverridesOneAllocator) {
  ordered_json json = with("allocators", {"halloc", "scatteralloc"});
  json["overrides"] = {{"scatteralloc",
                        {{"pool_bytes", "2MiB"},
                         {"deadline_s", 5},
                         {"parameters", {{"page_bytes", 64}}},
                         {"workload", {{"blocks", 7}}}}}};
  const Config config = read_good(json);
  EXPECT_EQ(config.allocators[0].settings.pool_bytes, 1u << 20);
  EXPECT_EQ(config.allocators[1].settings.pool_bytes, 2u << 20);
  EXPECT_EQ(config.allocators[1].settings.deadline_seconds, 5);
  EXPECT_EQ(*protocol::find_value(config.allocators[1].parameters, "page_bytes"), ParameterValue(std::uint64_t{64}));
  EXPECT_EQ(*protocol::find_value(config.allocators[1].settings.workload_parameters, "blocks"),
            ParameterValue(std::uint64_t{7}));
}

TEST(Config, CommandLineWins) {
  const Config config = read_good(with("seed", 3), {.deadline_seconds = 7.5, .seed = 9});
  EXPECT_EQ(config.seed, 9u);
  EXPECT_EQ(config.allocators[0].settings.deadline_seconds, 7.5);
  EXPECT_EQ(config.effective->at("seed"), 9);
}

TEST(Config, MayOnlyDraw) {
  Problems problems;
  const std::string text = R"({"name": "paper/table1", "plot": {"kind": "settings_table", "configs": ["fig1.json"]}})";
  const Config config = read_config(text, "test.json", {testing::test_catalogue()}, {}, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(config.only_draws);
}

}  // namespace
}  // namespace allocbench::front
