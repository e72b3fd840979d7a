// The strict reader: what it accepts, and the exact words of what it says about the rest.
#include "harness/front/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/front/plan/plan.hpp"
#include "tests/harness/test_catalogue.hpp"

namespace allocbench::front {
namespace {

using nlohmann::ordered_json;

const ordered_json good = {
    {"name", "paper/fig1"}, {"allocators", {"halloc"}}, {"workload", {{"id", "alloc_free"}}}, {"pool_bytes", "1MiB"}};

ordered_json with(const char* key, ordered_json value) {
  ordered_json config = good;
  config[key] = std::move(value);
  return config;
}

Config read(const ordered_json& json, Problems& problems, const ConfigChanges& changes = {}) {
  return read_config(json.dump(), "test.json", testing::test_catalogue(), changes, problems);
}

Config read_good(const ordered_json& json, const ConfigChanges& changes = {}) {
  Problems problems;
  Config config = read(json, problems, changes);
  EXPECT_TRUE(problems.empty()) << format_problems("test.json", problems);
  return config;
}

std::string complaints(const ordered_json& json) {
  Problems problems;
  read(json, problems);
  return format_problems("test.json", problems);
}

std::string one_complaint(const std::string& body) { return "test.json: 1 mistake, nothing was run\n" + body; }

TEST(Config, FillsDefaults) {
  const Config config = read_good(good);
  EXPECT_EQ(config.name, "paper/fig1");
  ASSERT_EQ(config.allocators.size(), 1u);
  const Settings& settings = config.allocators[0].settings;
  EXPECT_EQ(settings.pool_bytes, 1u << 20);
  EXPECT_EQ(settings.repetitions, 5u);
  EXPECT_EQ(settings.warmups, 1u);
  EXPECT_EQ(settings.state, "fresh");
  EXPECT_EQ(*find(settings.workload_parameters, "request_bytes"), Value(std::uint64_t{16}));
  EXPECT_EQ(config.seed, 1u);
}

TEST(Config, AllLeavesOutTestOnlyAllocators) {
  const Config config = read_good(with("allocators", {"all"}));
  ASSERT_EQ(config.allocators.size(), 2u);
  EXPECT_EQ(config.allocators[1].id, "scatteralloc");
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
  EXPECT_EQ(config.sweep[0].axes[0].values.back(), Value(std::uint64_t{64}));
  EXPECT_EQ(config.sweep[1].axes[0].values.size(), 3u);
  EXPECT_EQ(config.sweep[2].axes[0].values[1], Value(std::uint64_t{1} << 21));
  EXPECT_EQ(config.sweep[3].axes[0].values[0], Value(std::vector<std::uint64_t>{1, 2}));
}

TEST(Config, MergesTheSectionOfItsBackEnd) {
  ordered_json json = good;
  json["sweep"] = {{"request_bytes", {{"range", {16, 64, 16}}}}};
  json["cpu"] = {{"workload", {{"blocks", 8}}}, {"sweep", {{"request_bytes", {{"log2", {4, 8}}}}}}, {"paper", nullptr}};
  json["cuda"] = {{"workload", {{"blocks", 99999}}}};
  json["paper"] = "A 2020";
  const Config config = read_good(json);
  EXPECT_EQ(*find(config.allocators[0].settings.workload_parameters, "blocks"), Value(std::uint64_t{8}));
  EXPECT_EQ(config.sweep[0].axes[0].values.size(), 2u);
  const auto effective = ordered_json::parse(config.effective_text);
  EXPECT_FALSE(effective.contains("cpu") || effective.contains("cuda") || effective.contains("paper"));
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
  EXPECT_EQ(config.allocators[1].settings.pool_pointer, "/overrides/scatteralloc/pool_bytes");
  EXPECT_EQ(config.allocators[1].settings.deadline_seconds, 5);
  EXPECT_EQ(*find(config.allocators[1].parameters, "page_bytes"), Value(std::uint64_t{64}));
  EXPECT_EQ(*find(config.allocators[1].settings.workload_parameters, "blocks"), Value(std::uint64_t{7}));
}

TEST(Config, CommandLineWins) {
  const Config config = read_good(with("seed", 3), {.deadline_seconds = 7.5, .seed = 9});
  EXPECT_EQ(config.seed, 9u);
  EXPECT_EQ(config.allocators[0].settings.deadline_seconds, 7.5);
  EXPECT_EQ(ordered_json::parse(config.effective_text)["seed"], 9);
}

TEST(ConfigErrors, UnknownKey) {
  EXPECT_THAT(complaints(with("repititions", 5)),
              ::testing::AllOf(::testing::StartsWith("test.json: 1 mistake, nothing was run\n  /repititions\n"
                                                     "      found:   unknown key \"repititions\"\n"
                                                     "      allowed: $schema, name, "),
                               ::testing::EndsWith("      did you mean \"repetitions\"?\n")));
}

// Their predicates are the plots' matter.
TEST(ConfigErrors, ClaimsSayWhatAndWhose) {
  ordered_json claim = {{"says", "it is fast"}, {"source", "fig. 1"}, {"ratio", 3}};
  read_good(with("claims", ordered_json::array({claim})));
  claim.erase("source");
  EXPECT_EQ(complaints(with("claims", ordered_json::array({claim}))),
            one_complaint("  /claims/0\n      found:   the key \"source\" is missing\n      allowed: a text\n"));
  claim["source"] = 1;
  EXPECT_EQ(complaints(with("claims", ordered_json::array({claim}))),
            one_complaint("  /claims/0/source\n      found:   1\n      allowed: a text\n"));
  EXPECT_EQ(complaints(with("claims", ordered_json::array({"it is fast"}))),
            one_complaint("  /claims/0\n      found:   \"it is fast\"\n      allowed: an object\n"));
  EXPECT_EQ(complaints(with("claims", "it is fast")),
            one_complaint("  /claims\n      found:   \"it is fast\"\n      allowed: a list\n"));
}

TEST(ConfigErrors, UnknownAllocatorAndWorkload) {
  EXPECT_EQ(complaints(with("allocators", {"hallco"})),
            one_complaint("  /allocators/0\n      found:   unknown allocator \"hallco\"\n"
                          "      allowed: halloc, scatteralloc, saboteur\n      did you mean \"halloc\"?\n"));
  EXPECT_EQ(complaints(with("workload", {{"id", "alloc_fre"}})),
            one_complaint("  /workload/id\n      found:   unknown workload \"alloc_fre\"\n"
                          "      allowed: alloc_free\n      did you mean \"alloc_free\"?\n"));
}

TEST(ConfigErrors, UnknownParameterAndWrongValues) {
  EXPECT_EQ(complaints(with("workload", {{"id", "alloc_free"}, {"blokcs", 3}})),
            one_complaint("  /workload/blokcs\n      found:   unknown parameter \"blokcs\"\n"
                          "      allowed: request_bytes, blocks, share, shape, lanes, verify\n"
                          "      did you mean \"blocks\"?\n"));
  EXPECT_EQ(complaints(with("workload", {{"id", "alloc_free"}, {"blocks", 2048}})),
            one_complaint("  /workload/blocks\n      found:   2048\n"
                          "      allowed: a non-negative integer, at least 1, at most 1024 (blocks)\n"));
  EXPECT_EQ(complaints(with("workload", {{"id", "alloc_free"}, {"shape", "step"}})),
            one_complaint("  /workload/shape\n      found:   \"step\"\n"
                          "      allowed: one of flat, steep (shape)\n      did you mean \"steep\"?\n"));
}

TEST(ConfigErrors, SweepValuesAreCheckedAgainstTheParameter) {
  ordered_json json = with("allocators", {"scatteralloc"});
  json["sweep"] = {{"allocator.page_bytes", {64, 100, "1GiB"}}};
  EXPECT_EQ(complaints(json),
            "test.json: 2 mistakes, nothing was run\n"
            "  /sweep/allocator.page_bytes/1\n      found:   100\n      allowed: a power of two, at least 16 B, at "
            "most 64 KiB; sizes may be written as \"64KiB\" (page_bytes)\n"
            "  /sweep/allocator.page_bytes/2\n      found:   \"1GiB\"\n      allowed: a power of two, at least 16 B, "
            "at most 64 KiB; sizes may be written as \"64KiB\" (page_bytes)\n");
  EXPECT_EQ(complaints(with("sweep", {{"allocator.page_bytes", {64}}})),
            one_complaint("  /sweep/allocator.page_bytes\n      found:   unknown parameter of halloc \"page_bytes\"\n"
                          "      allowed: nothing: there is none\n"));
}

TEST(ConfigErrors, BadRanges) {
  EXPECT_EQ(complaints(with("sweep", {{"blocks", {{"range", {8, 4, 1}}}}})),
            one_complaint("  /sweep/blocks/range\n      found:   [8,4,1]\n"
                          "      allowed: [first, last, step] with first <= last and step > 0\n"));
  EXPECT_EQ(complaints(with("sweep", {{"blocks", {{"log2", {0, 4}}}}})),
            one_complaint("  /sweep/blocks/log2\n      found:   [0,4]\n"
                          "      allowed: [first, last] with 0 < first <= last; the values double\n"));
  EXPECT_EQ(complaints(with("sweep", {{"shape", {{"log2", {1, 4}}}}})),
            one_complaint("  /sweep/shape\n      found:   a range over a parameter of type string\n"
                          "      allowed: a list\n"));
}

TEST(ConfigErrors, UnequalZip) {
  EXPECT_EQ(complaints(with("zip", {{{"blocks", {1, 2, 3}}, {"request_bytes", {16, 32}}}})),
            one_complaint("  /zip/0\n      found:   lists of different lengths: blocks has 3, request_bytes has 2\n"
                          "      allowed: equally many values on every axis of a group\n"));
}

TEST(ConfigErrors, AnAxisSweptTwice) {
  ordered_json json = with("sweep", {{"blocks", {1, 2}}});
  json["zip"] = {{{"blocks", {1, 2}}, {"request_bytes", {16, 32}}}};
  EXPECT_EQ(complaints(json),
            one_complaint("  /zip/0/blocks\n      found:   the axis \"blocks\", which /sweep/blocks sweeps already\n"
                          "      allowed: each axis once\n"));
}

TEST(ConfigErrors, ExcludeNamesAnAxis) {
  ordered_json json = with("sweep", {{"blocks", {1, 2}}});
  json["exclude"] = {{{"block", 2}}};
  EXPECT_EQ(complaints(json), one_complaint("  /exclude/0/block\n      found:   unknown axis \"block\"\n"
                                            "      allowed: allocator, blocks\n      did you mean \"blocks\"?\n"));
}

TEST(ConfigErrors, PointsIntoTheBackEndsSection) {
  EXPECT_EQ(complaints(with("cpu", {{"workload", {{"blocks", 0}}}})),
            one_complaint("  /cpu/workload/blocks\n      found:   0\n"
                          "      allowed: a non-negative integer, at least 1, at most 1024 (blocks)\n"));
  EXPECT_THAT(complaints(with("cuda", {{"polo_bytes", 1}})), ::testing::HasSubstr("  /cuda/polo_bytes\n"));
}

TEST(ConfigErrors, AllMistakesAtOnce) {
  const std::string text = complaints(
      {{"name", "../escape"}, {"allocators", ordered_json::array()}, {"plot", {{"knd", "lines"}}}, {"state", "old"}});
  for (const char* part : {"/name", "/allocators", "\"workload\" is missing", "\"pool_bytes\" is missing", "/plot/knd",
                           "did you mean \"kind\"?", "/state", "one of fresh, reused"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  }
  EXPECT_THAT(text, ::testing::StartsWith("test.json: 6 mistakes"));
}

TEST(Config, MayOnlyDraw) {
  Problems problems;
  const std::string text = R"({"name": "paper/table1", "plot": {"kind": "settings_table"}})";
  const Config config = read_config(text, "test.json", testing::test_catalogue(), {}, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(config.only_draws);
}

TEST(ConfigErrors, SyntaxErrorsHaveLineAndColumn) {
  Problems problems;
  read_config("{\n  \"name\": \"x\",\n}", "test.json", testing::test_catalogue(), {}, problems);
  EXPECT_THAT(format_problems("test.json", problems), ::testing::HasSubstr("  line 3, column 1\n"));
}

TEST(ConfigErrors, PoolsLargerThanTheDevice) {
  const ordered_json json = with("sweep", {{"pool_bytes", {"1MiB", "4GiB"}}});
  Problems problems;
  const Plan plan = make_plan(read_good(json), testing::test_catalogue(), problems);
  check_pools(plan, 1u << 30, "Small GPU", problems);
  EXPECT_EQ(format_problems("test.json", problems),
            one_complaint("  /sweep/pool_bytes\n      found:   a pool of 4 GiB\n"
                          "      allowed: at most the 1 GiB of memory of Small GPU\n"));
}

}  // namespace
}  // namespace allocbench::front
