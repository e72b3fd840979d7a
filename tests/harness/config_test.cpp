// The strict reader: what it accepts, and the exact words of what it says about the rest.
#include "harness/front/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/front/config/scalars.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/protocol/bounds.hpp"
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
  return read_config(json.dump(), "test.json", {testing::test_catalogue()}, changes, problems);
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
  EXPECT_EQ(config.allocators[1].settings.pool_pointer, "/overrides/scatteralloc/pool_bytes");
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

TEST(ConfigErrors, UnknownKey) {
  EXPECT_THAT(complaints(with("repititions", 5)),
              ::testing::AllOf(::testing::StartsWith("test.json: 1 mistake, nothing was run\n  /repititions\n"
                                                     "      found:   unknown key \"repititions\"\n"
                                                     "      allowed: $schema, name, "),
                               ::testing::EndsWith("      did you mean \"repetitions\"?\n")));
}

const ordered_json good_claim = {
    {"says", "it is fast"}, {"source", "fig. 1"}, {"backend", "cpu"}, {"value", {{"of", "halloc"}}}, {"below", 3}};

std::string complaint_about_claim(const ordered_json& claim) {
  return complaints(with("claims", ordered_json::array({claim})));
}

TEST(ConfigErrors, ClaimsSayWhatAndWhoseAndHowMuch) {
  read_good(with("claims", ordered_json::array({good_claim})));
  ordered_json claim = good_claim;
  claim.erase("source");
  EXPECT_EQ(complaint_about_claim(claim), one_complaint("  /claims/0\n      found:   the key \"source\" is missing\n"
                                                        "      allowed: a text, at least 1 letters\n"));
  claim = good_claim;
  claim["source"] = 1;
  EXPECT_EQ(complaint_about_claim(claim),
            one_complaint("  /claims/0/source\n      found:   1\n      allowed: a text, at least 1 letters\n"));
  claim = good_claim;
  claim.erase("value");
  EXPECT_EQ(
      complaint_about_claim(claim),
      one_complaint(
          "  /claims/0\n      found:   0 of the keys ratio, growth, step, crossing, value, share, theory, unexplained\n"
          "      allowed: exactly one of them\n"));
  claim = good_claim;
  claim["above"] = 1;
  EXPECT_EQ(complaint_about_claim(claim),
            one_complaint("  /claims/0\n      found:   2 of the keys above, below, between\n"
                          "      allowed: exactly one of them\n"));
  EXPECT_EQ(complaint_about_claim("it is fast"),
            one_complaint("  /claims/0\n      found:   \"it is fast\"\n      allowed: an object\n"));
  EXPECT_THAT(complaints(with("claims", "it is fast")),
              ::testing::HasSubstr("  /claims\n      found:   \"it is fast\"\n      allowed: a list"));
}

TEST(ConfigErrors, ClaimsNameWhatExists) {
  ordered_json claim = good_claim;
  claim["value"] = {{"of", "hallco"}, {"metric", "tme"}, {"phase", "aloc"}};
  claim["where"] = {{"blokcs", 3}};
  const std::string text = complaint_about_claim(claim);
  EXPECT_THAT(text, ::testing::StartsWith("test.json: 4 mistakes"));
  for (const char* part :
       {"/claims/0/value/of\n      found:   unknown allocator of this config \"hallco\"", "/claims/0/value/metric",
        "did you mean \"time\"?", "/claims/0/value/phase", "/claims/0/where/blokcs"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  }
}

TEST(ConfigErrors, PlotsHaveAKindItsKeysAndNamesThatExist) {
  ordered_json plot = {{"kind", "lines"}, {"x", "blocks"}, {"y", "alloc"}, {"metric", {"time", "relative_time"}}};
  read_good(with("plot", plot));
  plot["kind"] = "linez";
  EXPECT_EQ(complaints(with("plot", plot)),
            one_complaint("  /plot/kind\n      found:   unknown kind \"linez\"\n"
                          "      allowed: table, lines, heatmap, histogram, scene_table, status_matrix\n"
                          "      did you mean \"lines\"?\n"));
  plot = {{"kind", "lines"}, {"x", "bloks"}, {"metric", "utilization"}, {"colour", "red"}};
  const std::string text = complaints(with("plot", plot));
  EXPECT_THAT(text, ::testing::StartsWith("test.json: 3 mistakes"));
  for (const char* part : {"/plot/x\n      found:   unknown setting \"bloks\"", "did you mean \"blocks\"?",
                           "/plot/metric", "did you mean \"utilisation\"?", "/plot/colour"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  }
  read_good(with("plot", {{"kind", "heatmap"}, {"x", "blocks"}, {"reference", "best"}}));
  EXPECT_THAT(complaints(with("plot", {{"kind", "heatmap"}, {"x", "blocks"}, {"reference", "baseline"}})),
              ::testing::HasSubstr("/plot/reference\n      found:   unknown phase \"baseline\""));
  EXPECT_THAT(complaints(with("plot", {{"kind", "table"}})),
              ::testing::HasSubstr("  /plot\n      found:   the key \"x\" is missing\n"));
}

TEST(ConfigErrors, NotesAreTexts) {
  EXPECT_EQ(complaints(with("notes", 5)), one_complaint("  /notes\n      found:   5\n      allowed: a list\n"));
  EXPECT_EQ(complaints(with("notes", {"one", 2})),
            one_complaint("  /notes/1\n      found:   2\n      allowed: a text, at least 1 letters\n"));
}

TEST(ConfigErrors, AWrongNameHidesNoParameter) {
  EXPECT_THAT(
      complaints(with("workload", {{"id", "alloc_fre"}, {"blocks", 0}})),
      ::testing::AllOf(::testing::StartsWith("test.json: 2 mistakes"), ::testing::HasSubstr("/workload/blocks")));
  EXPECT_THAT(
      complaints(with("workload", {{"id", "something_else"}, {"blocks", 1}, {"blokcs", 0}})),
      ::testing::AllOf(::testing::StartsWith("test.json: 2 mistakes"), ::testing::HasSubstr("/workload/blokcs")));
  EXPECT_THAT(
      complaints(with("allocators", {{{"id", "scateralloc"}, {"parameters", {{"page_bytes", 3}}}}})),
      ::testing::AllOf(::testing::StartsWith("test.json: 2 mistakes"), ::testing::HasSubstr("/parameters/page_bytes")));
}

TEST(ConfigErrors, TheOtherBackEndsPartIsChecked) {
  const std::string text = complaints(with("cuda", {{"workload", {{"blocks", 0}, {"blokcs", 1}}}, {"repetitions", 0}}));
  EXPECT_THAT(text, ::testing::StartsWith("test.json: 3 mistakes"));
  for (const char* part : {"/cuda/workload/blocks", "/cuda/workload/blokcs", "/cuda/repetitions"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  }
  // Without the other worker a name may be one of its own.
  read_good(with("cuda", {{"allocators", {"gpu_only"}}}));
}

TEST(ConfigErrors, TheFullPartIsChecked) {
  const std::string text = complaints(with("full", {{"sweep", {{"request_bytes", {0}}}}, {"repititions", 0}}));
  EXPECT_THAT(text, ::testing::StartsWith("test.json: 2 mistakes"));
  EXPECT_THAT(text, ::testing::HasSubstr("/full/sweep/request_bytes"));
  EXPECT_THAT(text, ::testing::HasSubstr("/full/repititions"));
}

TEST(ConfigErrors, NamesOfTheOtherBackEndAreNotUnknown) {
  Catalogue cuda = testing::test_catalogue();
  cuda.backend = "cuda";
  cuda.allocators.push_back(testing::make_allocator("gpu_only"));
  const Catalogue cpu = testing::test_catalogue();
  Problems problems;
  read_config(with("allocators", {"gpu_only"}).dump(), "test.json", {cpu, &cuda}, {}, problems);
  EXPECT_EQ(format_problems("test.json", problems),
            one_complaint("  /allocators/0\n      found:   \"gpu_only\", which is for the cuda back end only\n"
                          "      allowed: halloc, scatteralloc, saboteur\n"));
  problems = {};
  read_config(with("cuda", {{"allocators", {"gpu_onyl"}}}).dump(), "test.json", {cpu, &cuda}, {}, problems);
  EXPECT_THAT(format_problems("test.json", problems), ::testing::HasSubstr("  /cuda/allocators/0\n"));
}

TEST(ConfigErrors, UnknownAllocatorAndWorkload) {
  EXPECT_EQ(complaints(with("allocators", {"hallco"})),
            one_complaint("  /allocators/0\n      found:   unknown allocator \"hallco\"\n"
                          "      allowed: halloc, scatteralloc, saboteur\n      did you mean \"halloc\"?\n"));
  EXPECT_EQ(complaints(with("workload", {{"id", "alloc_fre"}})),
            one_complaint("  /workload/id\n      found:   unknown workload \"alloc_fre\"\n"
                          "      allowed: alloc_free\n      did you mean \"alloc_free\"?\n"));
}

TEST(ConfigErrors, TheAuthorsOwnCodeIsNoUnknownName) {
  EXPECT_EQ(
      complaints(with("allocators", {"halloc_original"})),
      one_complaint("  /allocators/0\n      found:   \"halloc_original\", the authors' own code, which this build does "
                    "not have\n      allowed: what `allocbench list allocators` shows; peers/README.md says how to "
                    "add the originals\n"));
}

TEST(ConfigErrors, ALongListOfNamesIsPrintedOnce) {
  const std::string names(101, 'x');
  Problems problems;
  problems.add({"/a", "one", names, ""});
  problems.add({"/b", "two", names, ""});
  EXPECT_EQ(format_problems("test.json", problems),
            "test.json: 2 mistakes, nothing was run\n  /a\n      found:   one\n"
            "      allowed: " +
                names + "\n  /b\n      found:   two\n      allowed: as for /a\n");
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
                          "      allowed: nothing\n"));
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
            one_complaint("  /zip/0/blocks\n      found:   the axis \"blocks\", which /sweep/blocks also sweeps\n"
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

TEST(ConfigErrors, RoundsOfAgeingNeedTheStateAged) {
  EXPECT_THAT(complaints(with("aged_rounds", 10)), ::testing::HasSubstr("/aged_rounds"));
  EXPECT_THAT(complaints(with("sweep", {{"aged_rounds", {1, 2}}})), ::testing::HasSubstr("/sweep/aged_rounds"));
  ordered_json aged = with("aged_rounds", 10);
  aged["state"] = "aged";
  EXPECT_EQ(read_good(aged).allocators[0].settings.aged_rounds, 10u);
  aged = with("aged_rounds", 10);
  aged["sweep"] = {{"state", {"fresh", "aged"}}};
  read_good(aged);
  aged = with("aged_rounds", 10);
  aged["overrides"] = {{"halloc", {{"state", "aged"}}}};
  read_good(aged);
}

TEST(ConfigErrors, AllMistakesAtOnce) {
  const std::string text = complaints(
      {{"name", "../escape"}, {"allocators", ordered_json::array()}, {"plot", {{"knd", "lines"}}}, {"state", "old"}});
  for (const char* part : {"/name", "/allocators", "\"workload\" is missing", "\"pool_bytes\" is missing", "/plot/knd",
                           "did you mean \"kind\"?", "/state", "one of fresh, reused, aged"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  }
  EXPECT_THAT(text, ::testing::StartsWith("test.json: 7 mistakes"));
}

TEST(Config, MayOnlyDraw) {
  Problems problems;
  const std::string text = R"({"name": "paper/table1", "plot": {"kind": "settings_table", "configs": ["fig1.json"]}})";
  const Config config = read_config(text, "test.json", {testing::test_catalogue()}, {}, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(config.only_draws);
}

TEST(ConfigErrors, SyntaxErrorsHaveLineAndColumn) {
  Problems problems;
  read_config("{\n  \"name\": \"x\",\n}", "test.json", {testing::test_catalogue()}, {}, problems);
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

TEST(ConfigLimits, DepthKeysNumbersAndTexts) {
  const auto complaint = [](const std::string& text) {
    Problems problems;
    read_config(text, "test.json", {testing::test_catalogue()}, {}, problems);
    return format_problems("test.json", problems);
  };
  EXPECT_THAT(complaint(std::string(70'000, '[')), ::testing::HasSubstr("at most 64 levels"));
  std::string keys = "{\"workload\": {\"a0\": 1";
  for (int i = 1; i <= 1000; ++i) keys += ", \"a" + std::to_string(i) + "\": 1";
  EXPECT_EQ(complaint(keys + "}}"), one_complaint("  /workload\n      found:   an object with more than 1000 keys\n"
                                                  "      allowed: at most 1000 keys\n"));
  EXPECT_EQ(complaint("{\n  \"seed\": 1e400\n}"), one_complaint("  line 2, column 11\n      found:   the number 1e400\n"
                                                                "      allowed: numbers from -1.8e308 to 1.8e308\n"));
  EXPECT_THAT(complaints(with("name", std::string(100'000, 'a'))), ::testing::HasSubstr("at most 200 letters"));
  EXPECT_LT(complaints(with("name", std::string(100'000, 'a'))).size(), 2000u);
}

TEST(ConfigLimits, EveryNumberHasOne) {
  for (const char* key : {"repetitions", "rounds", "warmups", "counted_passes", "deadline_s"}) {
    EXPECT_THAT(complaints(with(key, 1e10)), ::testing::HasSubstr(std::string("/") + key + "\n"));
  }
  EXPECT_THAT(complaints(with("sweep", {{"blocks", std::vector<int>(20'000, 1)}})),
              ::testing::HasSubstr("at most 10000 values"));
  EXPECT_THAT(complaints(with("workload", {{"id", "alloc_free"}, {"lanes", std::vector<int>(2000, 1)}})),
              ::testing::HasSubstr("at most 1000 elements"));
}

// As a maximum of the schema, as a bound of every deadline on the command line, as the bound of times in logs.
TEST(ConfigLimits, TheSchemaAndTheProtocolAgreeAboutSeconds) {
  EXPECT_EQ(find_entry(config_scalars(), "deadline_s")->maximum, protocol::longest_seconds);
}

TEST(ConfigLimits, CellsAreCountedBeforeTheyAreMade) {
  ordered_json json = good;
  json["sweep"] = {{"request_bytes", {{"range", {1, 1000, 1}}}}, {"blocks", {{"range", {1, 1000, 1}}}}};
  Problems problems;
  make_plan(read_good(json), testing::test_catalogue(), problems);
  EXPECT_EQ(
      format_problems("test.json", problems),
      one_complaint("  /sweep\n      found:   1000000 cells\n      allowed: at most 100000 cells, before exclude\n"));
}

TEST(ConfigLimits, ManyMistakesAreCounted) {
  const std::string text = complaints(with("sweep", {{"blocks", std::vector<int>(5000, 0)}}));
  EXPECT_THAT(text, ::testing::StartsWith("test.json: "));
  EXPECT_THAT(text, ::testing::HasSubstr("  and "));
  EXPECT_LT(text.size(), 50'000u);
}

}  // namespace
}  // namespace allocbench::front
