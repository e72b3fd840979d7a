// Which cells come last, and which are skipped: hand-made sequences of failures.
#include "harness/front/run/trouble_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace allocbench::front {
namespace {

using ::testing::HasSubstr;

Cell cell(const std::string& label, const std::string& series, std::optional<double> growth,
          ParameterValues parameters = {}) {
  Cell made;
  made.id = label + series + (growth ? std::to_string(*growth) : "");
  made.name = "figure/" + series;
  made.label = label;
  made.series = series;
  made.growth = growth;
  made.workload = "alloc_free";
  made.workload_parameters = std::move(parameters);
  return made;
}

// A cell of the allocator "a" on a grid of sizes and threads; a series per number of threads.
Cell on_grid(std::uint64_t bytes, std::uint64_t threads) {
  return cell("a", "a/threads:" + std::to_string(threads), static_cast<double>(bytes),
              {{"request_bytes", bytes}, {"threads", threads}});
}

Doubt doubt(const TroubleWatch& watch, const Cell& about, const std::string& figure = "fig") {
  return watch.about(figure, about).doubt;
}

TEST(TroubleWatch, SkipsAfterTwoSmallerTimeouts) {
  TroubleWatch watch;
  watch.note_end("fig", cell("a", "a/1", 64), Status::timeout);
  EXPECT_EQ(watch.reason_to_skip("fig", cell("a", "a/1", 128)), std::nullopt);
  watch.note_end("fig", cell("a", "a/1", 256), Status::timeout);
  EXPECT_EQ(watch.reason_to_skip("fig", cell("a", "a/1", 128)), std::nullopt);  // only one smaller
  EXPECT_EQ(watch.reason_to_skip("fig", cell("a", "a/1", 512)), "series a/1 timed out at 64 and 256");
  EXPECT_EQ(watch.reason_to_skip("fig", cell("a", "a/2", 512)), std::nullopt);
  EXPECT_EQ(watch.reason_to_skip("fig", cell("a", "a/1", std::nullopt)), std::nullopt);
  EXPECT_EQ(watch.reason_to_skip("other", cell("a", "a/1", 512)), std::nullopt);
}

TEST(TroubleWatch, CrashesSkipNothingAndShortenNoDeadline) {
  TroubleWatch watch;
  for (const double size : {16, 32, 64}) watch.note_end("fig", cell("a", "a", size), Status::crashed);
  EXPECT_EQ(watch.reason_to_skip("fig", cell("a", "a", 128)), std::nullopt);
  EXPECT_FALSE(watch.series_timed_out("fig", cell("a", "a", 128)));
  watch.note_end("fig", cell("a", "a", 64), Status::timeout);
  EXPECT_TRUE(watch.series_timed_out("fig", cell("a", "a", 128)));
  EXPECT_FALSE(watch.series_timed_out("fig", cell("a", "a", 64)));
}

TEST(TroubleWatch, CellsThatAskAtLeastAsMuchWait) {
  TroubleWatch watch;
  EXPECT_EQ(doubt(watch, on_grid(64, 1000)), Doubt::none);
  watch.note_end("fig", on_grid(64, 1000), Status::timeout);
  EXPECT_EQ(doubt(watch, on_grid(128, 1000)), Doubt::cell);  // its own series
  EXPECT_EQ(doubt(watch, on_grid(64, 2000)), Doubt::harder);
  EXPECT_EQ(doubt(watch, on_grid(128, 2000)), Doubt::harder);
  EXPECT_EQ(doubt(watch, on_grid(32, 2000)), Doubt::none);
  EXPECT_EQ(doubt(watch, on_grid(32, 1000)), Doubt::none);
  EXPECT_EQ(doubt(watch, on_grid(128, 500)), Doubt::none);
  EXPECT_EQ(doubt(watch, cell("b", "b/1", 64)), Doubt::none);
  EXPECT_EQ(doubt(watch, on_grid(64, 1000), "other"), Doubt::harder);
  EXPECT_EQ(doubt(watch, on_grid(64, 500), "other"), Doubt::none);
  EXPECT_THAT(watch.about("fig", on_grid(64, 2000)).reason,
              HasSubstr("figure/a/threads:1000 ended with status timeout"));
}

TEST(TroubleWatch, OnlyCellsOfTheSameWorkloadAllocatorAndPoolAskAsMuch) {
  TroubleWatch watch;
  Cell failed = on_grid(64, 1000);
  failed.pool_bytes = 4096;
  failed.allocator_parameters = {{"offset_count", std::uint64_t{15}}};
  watch.note_end("fig", failed, Status::timeout);
  Cell other = on_grid(64, 2000);
  other.pool_bytes = 4096;
  other.allocator_parameters = failed.allocator_parameters;
  EXPECT_EQ(doubt(watch, other), Doubt::harder);
  other.pool_bytes = 8192;
  EXPECT_EQ(doubt(watch, other), Doubt::harder);
  other.pool_bytes = 2048;
  EXPECT_EQ(doubt(watch, other), Doubt::none);
  other.pool_bytes = 4096;
  other.allocator_parameters = {{"offset_count", std::uint64_t{33}}};
  EXPECT_EQ(doubt(watch, other), Doubt::none);
  other.allocator_parameters = failed.allocator_parameters;
  other.workload = "churn";
  EXPECT_EQ(doubt(watch, other), Doubt::none);
}

TEST(TroubleWatch, SharesSayNeitherMoreNorLess) {
  const auto of_share = [](double share, std::uint64_t keys) {
    return cell("a", "a/free_share:" + std::to_string(share), std::nullopt, {{"free_share", share}, {"keys", keys}});
  };
  TroubleWatch watch;
  watch.note_end("fig", of_share(0.5, 1000), Status::timeout);
  EXPECT_EQ(doubt(watch, of_share(0.05, 1000)), Doubt::harder);
  EXPECT_EQ(doubt(watch, of_share(0.9, 1000)), Doubt::harder);
  EXPECT_EQ(doubt(watch, of_share(0.9, 500)), Doubt::none);
}

TEST(TroubleWatch, TextsAreNotOrdered) {
  const auto of_shape = [](const std::string& shape, std::uint64_t bytes) {
    return cell("a", "a/" + shape, std::nullopt, {{"shape", shape}, {"request_bytes", bytes}});
  };
  TroubleWatch watch;
  watch.note_end("fig", of_shape("flat", 64), Status::crashed);
  EXPECT_EQ(doubt(watch, of_shape("flat", 64)), Doubt::harder);
  EXPECT_EQ(doubt(watch, of_shape("steep", 64)), Doubt::none);
}

TEST(TroubleWatch, OnlyWhatCostsAWorkerCounts) {
  for (const Status status : {Status::ok, Status::skipped, Status::unsupported, Status::oom, Status::incorrect}) {
    TroubleWatch watch;
    watch.note_end("fig", cell("a", "a", 64), status);
    EXPECT_EQ(doubt(watch, cell("a", "a", 64)), Doubt::none) << word(status);
  }
  for (const Status status : {Status::timeout, Status::crashed, Status::device_fault}) {
    TroubleWatch watch;
    watch.note_end("fig", cell("a", "a", 64), status);
    EXPECT_EQ(doubt(watch, cell("a", "a", 64)), Doubt::harder) << word(status);
  }
}

// Cells that ask for the same as others: only counts of lost workers tell them apart.
Cell apart(const std::string& name) { return cell("a", "a/" + name, std::nullopt, {{"shape", name}}); }

void lose(TroubleWatch& watch, const std::string& figure, const Cell& at) {
  watch.note_end(figure, at, Status::crashed);
  watch.note_lost_worker(figure, at.label);
}

TEST(TroubleWatch, TwoLostWorkersPutOffTheAllocatorsConfig) {
  TroubleWatch watch;
  lose(watch, "fig", apart("one"));
  EXPECT_EQ(doubt(watch, apart("four")), Doubt::none);
  lose(watch, "fig", apart("two"));
  EXPECT_EQ(doubt(watch, apart("four")), Doubt::config);
  EXPECT_EQ(watch.about("fig", apart("four")).reason, "a lost 2 workers in this config");
  EXPECT_EQ(doubt(watch, apart("four"), "other"), Doubt::none);
  EXPECT_EQ(doubt(watch, cell("b", "b", std::nullopt, {{"shape", std::string("four")}})), Doubt::none);
}

TEST(TroubleWatch, NotWhereAsManyCellsWentWell) {
  TroubleWatch watch;
  watch.note_verified("fig", apart("good"));
  watch.note_verified("fig", apart("good"));                   // one cell
  watch.note_end("fig", apart("fair"), Status::oom);           // an answer as well
  watch.note_end("fig", apart("never"), Status::unsupported);  // no worker tried it
  watch.note_end("fig", apart("later"), Status::skipped);
  lose(watch, "fig", apart("one"));
  lose(watch, "fig", apart("two"));
  EXPECT_EQ(doubt(watch, apart("four")), Doubt::none);
  lose(watch, "fig", apart("good"));  // in a later round
  EXPECT_EQ(doubt(watch, apart("four")), Doubt::config);
}

TEST(TroubleWatch, OfAnAllocatorThatLosesInMostConfigsOneLossInAConfigIsEnough) {
  TroubleWatch watch;
  watch.note_verified("first", apart("good"));
  for (const char* figure : {"second", "third"}) lose(watch, figure, apart("one"));
  lose(watch, "second", apart("two"));  // the same config
  EXPECT_EQ(doubt(watch, apart("good"), "third"), Doubt::none);
  lose(watch, "fourth", apart("one"));
  EXPECT_EQ(doubt(watch, apart("good"), "third"), Doubt::allocator);
  EXPECT_EQ(watch.about("third", apart("good")).reason, "a lost workers in 3 configs");
  for (const char* figure : {"fifth", "sixth"}) watch.note_verified(figure, apart("good"));
  EXPECT_EQ(doubt(watch, apart("good"), "third"), Doubt::none);
}

TEST(TroubleWatch, AConfigThatIsNewOrGoesWellIsTried) {
  TroubleWatch watch;
  for (const char* figure : {"first", "second", "third"}) lose(watch, figure, apart("one"));
  EXPECT_EQ(doubt(watch, apart("good"), "new"), Doubt::none);
  watch.note_verified("new", apart("good"));
  EXPECT_EQ(doubt(watch, apart("next"), "new"), Doubt::none);
  lose(watch, "other", apart("one"));
  EXPECT_EQ(doubt(watch, apart("good"), "other"), Doubt::allocator);
}

TEST(TroubleWatch, EarlierResultsSpeakAgainstTheirCells) {
  const Cell known = cell("a", "a", 64);
  TroubleWatch watch({{known.id, {Doubt::cell, "its status was timeout in there"}}});
  EXPECT_EQ(doubt(watch, known), Doubt::cell);
  EXPECT_EQ(watch.about("fig", known).reason, "its status was timeout in there");
  EXPECT_EQ(doubt(watch, cell("a", "a", 128)), Doubt::none);
  EXPECT_FALSE(watch.series_timed_out("fig", known));  // its whole deadline: it may be mended
}

TEST(TroubleWatch, WantOfTimeForetellsNoTrouble) {
  EXPECT_FALSE(foretells_trouble({.status = Status::skipped, .left_out = true}));
  EXPECT_TRUE(foretells_trouble({Status::skipped, "series a timed out at 64 and 256"}));
  EXPECT_TRUE(foretells_trouble({Status::timeout}));
  EXPECT_FALSE(foretells_trouble({Status::oom}));
}

TEST(TroubleWatch, ResultsSayWhetherACellWasLeftOutAndOlderOnesByTheirReason) {
  const std::string words = std::string(want_of_time) + " (a lost workers in 3 configs)";
  EXPECT_TRUE(was_left_out({{"status", "skipped"}, {"reason", "any"}, {"left_out", true}}));
  EXPECT_FALSE(was_left_out({{"status", "skipped"}, {"reason", words}, {"left_out", false}}));
  EXPECT_TRUE(was_left_out({{"status", "skipped"}, {"reason", words}}));
  EXPECT_FALSE(was_left_out({{"status", "skipped"}, {"reason", "series a timed out at 64 and 256"}}));
  EXPECT_FALSE(was_left_out({{"status", "timeout"}, {"reason", words}}));
}

}  // namespace
}  // namespace allocbench::front
