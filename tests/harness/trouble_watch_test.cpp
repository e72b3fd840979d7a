// Which cells come last, and which are skipped: hand-made sequences of failures.
#include "harness/front/run/trouble_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allocbench::front {
namespace {

using ::testing::HasSubstr;

Cell cell(const std::string& label, const std::string& series, std::optional<double> growth) {
  Cell made;
  made.id = label + series + (growth ? std::to_string(*growth) : "");
  made.name = "figure/" + series;
  made.label = label;
  made.series = series;
  made.growth = growth;
  return made;
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

TEST(TroubleWatch, DoubtsGrow) {
  TroubleWatch watch;
  EXPECT_EQ(doubt(watch, cell("a", "a/1", 64)), Doubt::none);
  watch.note_end("fig", cell("a", "a/1", 64), Status::timeout);
  EXPECT_EQ(doubt(watch, cell("a", "a/1", 128)), Doubt::cell);
  EXPECT_EQ(doubt(watch, cell("a", "a/2", 64)), Doubt::config);
  EXPECT_EQ(doubt(watch, cell("a", "a/2", 32)), Doubt::none);
  EXPECT_EQ(doubt(watch, cell("b", "b/1", 64)), Doubt::none);
  EXPECT_EQ(doubt(watch, cell("a", "a/2", 64), "other"), Doubt::none);
  EXPECT_THAT(watch.about("fig", cell("a", "a/2", 64)).reason, HasSubstr("figure/a/1 ended with status timeout"));
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
    EXPECT_EQ(doubt(watch, cell("a", "a", 64)), Doubt::config) << word(status);
  }
}

TEST(TroubleWatch, WithoutNumbersAFailureCountsForAllOfTheAllocator) {
  TroubleWatch watch;
  watch.note_end("fig", cell("a", "a/dense", std::nullopt), Status::crashed);
  EXPECT_EQ(doubt(watch, cell("a", "a/sparse", std::nullopt)), Doubt::config);
  EXPECT_EQ(doubt(watch, cell("b", "b/dense", std::nullopt)), Doubt::none);
}

TEST(TroubleWatch, TwoLostWorkersCountInAllConfigs) {
  TroubleWatch watch;
  watch.note_lost_worker("a");
  EXPECT_EQ(doubt(watch, cell("a", "a", 16)), Doubt::none);
  watch.note_lost_worker("a");
  EXPECT_EQ(doubt(watch, cell("a", "a", 16), "any"), Doubt::allocator);
  EXPECT_EQ(doubt(watch, cell("b", "b", 16)), Doubt::none);
}

TEST(TroubleWatch, EarlierResultsSpeakAgainstTheirCells) {
  const Cell known = cell("a", "a", 64);
  TroubleWatch watch({{known.id, "its status was timeout in there"}});
  EXPECT_EQ(doubt(watch, known), Doubt::cell);
  EXPECT_EQ(watch.about("fig", known).reason, "its status was timeout in there");
  EXPECT_EQ(doubt(watch, cell("a", "a", 128)), Doubt::none);
  EXPECT_FALSE(watch.series_timed_out("fig", known));  // its whole deadline: it may be mended
}

}  // namespace
}  // namespace allocbench::front
