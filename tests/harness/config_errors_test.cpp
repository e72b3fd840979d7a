// These tests check the exact messages of the strict reader for wrong configs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/front/plan/plan.hpp"
#include "tests/harness/config_cases.hpp"

namespace allocbench::front {
namespace {

using testing::complaints;
using testing::one_complaint;
using testing::ordered_json;
using testing::read_good;
using testing::with;

TEST(ConfigErrors, UnknownKey) {
  EXPECT_THAT(complaints(with("repititions", 5)),
              ::testing::AllOf(::testing::StartsWith("test.json: 1 mistake, nothing was run\n  /repititions\n"
                                                     "      found:   unknown key \"repititions\"\n"
                                                     "      allowed: $schema, name, "),
                               ::testing::EndsWith("      did you mean \"repetitions\"?\n")));
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
  // The other worker is not present, so an unknown name may be one of its allocators.
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
            one_complaint("  /allocators/0\n      found:   \"gpu_only\", which works on the cuda back end only\n"
                          "      allowed: halloc, scatteralloc, saboteur\n"));
  problems = {};
  read_config(with("cuda", {{"allocators", {"gpu_onyl"}}}).dump(), "test.json", {cpu, &cuda}, {}, problems);
  EXPECT_THAT(format_problems("test.json", problems), ::testing::HasSubstr("  /cuda/allocators/0\n"));
}

TEST(ConfigErrors, UnknownSetOrMemberOfASet) {
  EXPECT_EQ(
      complaints(with("allocators", {{{"set", "surveys"}}})),
      one_complaint(
          "  /allocators/0/set\n      found:   \"surveys\"\n      allowed: one of survey, rivals, current, one_size\n"
          "      did you mean \"survey\"?\n"));
  const std::string text = complaints(with("allocators", {{{"set", "one_size"}, {"without", {"rw", "crv"}}}}));
  EXPECT_THAT(text,
              ::testing::StartsWith(one_complaint("  /allocators/0/without/1\n      found:   unknown allocator of "
                                                  "this set \"crv\"\n      allowed: rw, rw_reworked, ")));
  EXPECT_THAT(text, ::testing::HasSubstr("did you mean \"crw\"?"));
}

TEST(ConfigErrors, UnknownAllocatorAndWorkload) {
  EXPECT_EQ(complaints(with("allocators", {"hallco"})),
            one_complaint("  /allocators/0\n      found:   unknown allocator \"hallco\"\n"
                          "      allowed: halloc, scatteralloc, saboteur\n      did you mean \"halloc\"?\n"));
  EXPECT_EQ(complaints(with("allocators", {"halloc", "hallco"})),
            one_complaint("  /allocators/1\n      found:   unknown allocator \"hallco\"\n"
                          "      allowed: halloc, scatteralloc, saboteur\n      did you mean \"halloc\"?\n"))
      << "the suggestion makes no duplicate";
  EXPECT_EQ(complaints(with("workload", {{"id", "alloc_fre"}})),
            one_complaint("  /workload/id\n      found:   unknown workload \"alloc_fre\"\n"
                          "      allowed: alloc_free\n      did you mean \"alloc_free\"?\n"));
}

TEST(ConfigErrors, TheAuthorsOwnCodeIsNoUnknownName) {
  EXPECT_EQ(
      complaints(with("allocators", {"halloc_original"})),
      one_complaint("  /allocators/0\n      found:   \"halloc_original\", the authors' own code, which is not in "
                    "this build\n      allowed: the names of `allocbench list allocators`; peers/README.md says how to "
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
                          "      allowed: the same number of values on every axis of a group\n"));
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
  EXPECT_EQ(read_good(aged).allocators[0].settings.cell.aged_rounds, 10u);
  aged = with("aged_rounds", 10);
  aged["sweep"] = {{"state", {"fresh", "aged"}}};
  read_good(aged);
  aged = with("aged_rounds", 10);
  aged["overrides"] = {{"halloc", {{"state", "aged"}}}};
  read_good(aged);
}

TEST(ConfigErrors, AWorkloadIsAnObject) {
  for (const char* found : {"alloc_free", "aloc_free"}) {
    EXPECT_EQ(complaints(with("workload", found)),
              one_complaint(std::string("  /workload\n      found:   \"") + found +
                            "\"\n      allowed: an object with the workload's id and parameters, such as {\"id\": "
                            "\"alloc_free\"}\n"));
  }
}

TEST(ConfigErrors, UnitsAreWords) {
  EXPECT_EQ(with_unit("1", "threads"), "1 thread");
  EXPECT_EQ(with_unit("1", "batches"), "1 batch");
  EXPECT_EQ(with_unit("2", "threads"), "2 threads");
  EXPECT_EQ(with_unit("1", "ns"), "1 ns");
  EXPECT_EQ(with_unit("0.5", "fraction"), "0.5");
  ParameterInfo info;
  info.default_value = std::uint64_t{1};
  info.unit = "threads";
  info.minimum = 1;
  info.maximum = 1024;
  EXPECT_EQ(allowed_values(info), "a non-negative integer, at least 1 thread, at most 1024 threads");
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

TEST(ConfigErrors, SyntaxErrorsHaveLineAndColumn) {
  Problems problems;
  read_config("{\n  \"name\": \"x\",\n}", "test.json", {testing::test_catalogue()}, {}, problems);
  EXPECT_THAT(format_problems("test.json", problems), ::testing::HasSubstr("  line 3, column 1\n"));
}

}  // namespace
}  // namespace allocbench::front
