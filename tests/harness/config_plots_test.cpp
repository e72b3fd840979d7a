// These tests check the messages of the strict reader about the plot, the claims and the notes of a config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/front/config/plot_reader.hpp"
#include "tests/harness/config_cases.hpp"

namespace allocbench::front {
namespace {

using testing::complaints;
using testing::one_complaint;
using testing::ordered_json;
using testing::read_good;
using testing::with;

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
                                                        "      allowed: a text, length at least 1\n"));
  claim = good_claim;
  claim["source"] = 1;
  EXPECT_EQ(complaint_about_claim(claim),
            one_complaint("  /claims/0/source\n      found:   1\n      allowed: a text, length at least 1\n"));
  claim = good_claim;
  claim.erase("value");
  EXPECT_EQ(
      complaint_about_claim(claim),
      one_complaint(
          "  /claims/0\n      found:   0 of the keys ratio, growth, straight, step, crossing, value, share, theory, "
          "unexplained, correlation, not_judged\n"
          "      allowed: exactly one of these keys\n"));
  claim = good_claim;
  claim["above"] = 1;
  EXPECT_EQ(complaint_about_claim(claim),
            one_complaint("  /claims/0\n      found:   2 of the keys above, below, between, not_judged\n"
                          "      allowed: exactly one of these keys\n"));
  EXPECT_EQ(complaint_about_claim("it is fast"),
            one_complaint("  /claims/0\n      found:   \"it is fast\"\n      allowed: an object\n"));
  EXPECT_THAT(complaints(with("claims", "it is fast")),
              ::testing::HasSubstr("  /claims\n      found:   \"it is fast\"\n      allowed: a list"));
}

TEST(ConfigErrors, WhatNoResultCanJudgeHasNeitherEffectNorBounds) {
  ordered_json claim = {{"says", "it takes 3 ms"}, {"source", "fig. 1"}, {"not_judged", "an absolute figure"}};
  read_good(with("claims", ordered_json::array({claim})));
  claim["below"] = 3;
  EXPECT_EQ(complaint_about_claim(claim),
            one_complaint("  /claims/0\n      found:   2 of the keys above, below, between, not_judged\n"
                          "      allowed: exactly one of these keys\n"));
}

TEST(ConfigErrors, HardwareAsACauseNeedsEvidence) {
  ordered_json claim = good_claim;
  claim["cause"] = {{"kind", "hardware"}, {"because", "it is faster"}};
  EXPECT_EQ(complaint_about_claim(claim),
            one_complaint("  /claims/0/cause\n      found:   the key \"evidence\" is missing\n"
                          "      allowed: one of count, profile, derivation\n"));
  claim["cause"]["evidence"] = "count";
  read_good(with("claims", ordered_json::array({claim})));
  claim["cause"] = {{"kind", "not known"}, {"because", "it is faster"}};
  read_good(with("claims", ordered_json::array({claim})));
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

TEST(ConfigErrors, GainsAndStraightLinesNameWhatExists) {
  ordered_json claim = good_claim;
  claim.erase("value");
  claim["straight"] = {{"of", "halloc"}, {"along", "bloks"}};
  EXPECT_THAT(complaint_about_claim(claim), ::testing::HasSubstr("/claims/0/straight/along"));
  claim.erase("straight");
  claim["ratio"] = {{"of", "halloc"}, {"to", "halloc"}, {"against", "hallco"}};
  EXPECT_THAT(complaint_about_claim(claim), ::testing::HasSubstr("/claims/0/ratio/against"));
}

TEST(ConfigErrors, UntimedKernelsHaveRegistersOnly) {
  ordered_json claim = good_claim;
  claim["value"] = {{"of", "halloc"}, {"metric", "registers"}, {"phase", "one_malloc"}};
  read_good(with("claims", ordered_json::array({claim})));
  claim["value"]["metric"] = "time";
  EXPECT_EQ(complaint_about_claim(claim),
            one_complaint("  /claims/0/value/phase\n      found:   unknown phase \"one_malloc\"\n"
                          "      allowed: \"\", total, alloc, free\n"));
  claim.erase("value");
  claim["ratio"] = {
      {"of", {{"allocator", "halloc"}, {"phase", "one_malloc"}}}, {"to", "halloc"}, {"metric", "registers"}};
  read_good(with("claims", ordered_json::array({claim})));
  claim["ratio"]["of"]["phase"] = "two_mallocs";
  EXPECT_THAT(complaint_about_claim(claim), ::testing::HasSubstr("unknown kernel \"two_mallocs\""));

  ordered_json plot = {{"kind", "scene_table"}, {"columns", "blocks"}, {"kernels", {"one_malloc", "alloc"}}};
  const std::string plot_text = complaints(with("plot", plot));
  EXPECT_THAT(plot_text, ::testing::Not(::testing::HasSubstr("/plot/kernels")));
  plot["kernels"][1] = "aloc";
  EXPECT_THAT(complaints(with("plot", plot)), ::testing::HasSubstr("/plot/kernels/1\n      found:   unknown kernel"));
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
  for (const char* reference : {"baseline", "baselines"}) {
    EXPECT_THAT(complaints(with("plot", {{"kind", "heatmap"}, {"x", "blocks"}, {"reference", reference}})),
                ::testing::HasSubstr("/plot/reference\n      found:   unknown phase \"baseline\""));
  }
  EXPECT_THAT(complaints(with("plot", {{"kind", "table"}})),
              ::testing::HasSubstr("  /plot\n      found:   the key \"x\" is missing\n"));
}

TEST(ConfigErrors, PositionsHaveAPlaceAndSettingsThatExist) {
  ordered_json plot = {{"kind", "lines"}, {"x", "blocks"}};
  plot["positions"] = {{{"at", 2}, {"source", "fig. 1"}, {"phase", "alloc"}, {"where", {{"blocks", 3}}}}};
  read_good(with("plot", plot));
  plot["positions"][0] = {{"at", 2}, {"source", "fig. 1"}, {"phase", "aloc"}, {"where", {{"bloks", 3}}}};
  const std::string text = complaints(with("plot", plot));
  for (const char* part : {"/plot/positions/0/phase", "did you mean \"alloc\"?", "/plot/positions/0/where/bloks"})
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  plot["positions"][0] = {{"source", "fig. 1"}};
  EXPECT_THAT(complaints(with("plot", plot)),
              ::testing::HasSubstr("  /plot/positions/0\n      found:   the key \"at\" is missing\n"));
}

TEST(ConfigErrors, NotesAreTexts) {
  EXPECT_EQ(complaints(with("notes", 5)), one_complaint("  /notes\n      found:   5\n      allowed: a list\n"));
  EXPECT_EQ(complaints(with("notes", {"one", 2})),
            one_complaint("  /notes/1\n      found:   2\n      allowed: a text, length at least 1\n"));
}

TEST(ShownCounts, ArePlottedOrClaimed) {
  const auto& metrics = testing::test_catalogue().metrics;
  const auto shows = [&](const ordered_json& config) { return shows_counts(config, metrics); };
  EXPECT_FALSE(shows(testing::good));
  EXPECT_FALSE(shows(with("plot", {{"kind", "lines"}, {"metric", "time"}})));
  EXPECT_TRUE(shows(with("plot", {{"kind", "lines"}, {"metric", {"time", "steps_per_malloc"}}})));
  EXPECT_TRUE(shows(with("plot", {{"kind", "lines"}, {"metric", "relative_steps_per_malloc"}})));
  EXPECT_TRUE(shows(with("plot", {{"kind", "histogram"}, {"histogram", "steps"}})));
  EXPECT_FALSE(shows(with("claims", ordered_json::array({{{"says", "steps_per_malloc are few"}}}))));
  EXPECT_TRUE(
      shows(with("claims", ordered_json::array({{{"value", {{"of", "halloc"}, {"metric", "steps_per_malloc"}}}}}))));
}

}  // namespace
}  // namespace allocbench::front
