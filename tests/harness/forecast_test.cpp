// These tests check forecasts of a cell's time and risk from hand-made histories.
#include "harness/front/run/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace allocbench::front {
namespace {

Cell cell(const std::string& label, const std::string& series, std::optional<double> growth,
          ParameterValues parameters = {}) {
  Cell made;
  made.id = label + series + (growth ? std::to_string(*growth) : "");
  made.name = "figure/" + series;
  made.label = label;
  made.series = series;
  made.growth = growth;
  made.deadline_seconds = 60;
  made.workload = "alloc_free";
  made.workload_parameters = std::move(parameters);
  return made;
}

// Returns a cell of the allocator "a" on a grid of sizes and threads. Each number of threads has a series.
Cell on_grid(std::uint64_t bytes, std::uint64_t threads) {
  return cell("a", "a/threads:" + std::to_string(threads), static_cast<double>(bytes),
              {{"request_bytes", bytes}, {"threads", threads}});
}

bool fails(const Forecaster& forecaster, const Cell& about) { return forecaster.about("fig", about).risk > 0.9; }

TEST(Forecast, NothingIsKnownAtFirst) {
  const Forecast forecast = Forecaster().about("fig", cell("a", "a", 16));
  EXPECT_FALSE(forecast.is_known);
  EXPECT_EQ(forecast.seconds, Forecaster::unknown_seconds);
  EXPECT_DOUBLE_EQ(forecast.risk, 0.02);
  EXPECT_EQ(forecast.reason, "");
}

TEST(Forecast, ACellTakesAsLongAsTheNearestSmallerOneOfItsSeries) {
  Forecaster forecaster;
  const auto seconds = [&](double growth) { return forecaster.about("fig", cell("a", "a", growth)).seconds; };
  forecaster.note_round("fig", cell("a", "a", 16), 0.1);
  EXPECT_DOUBLE_EQ(seconds(32), 0.1);
  EXPECT_FALSE(forecaster.about("fig", cell("a", "a", 8)).is_known) << "larger ones tell nothing";
  forecaster.note_round("fig", cell("a", "a", 64), 1.6);
  EXPECT_DOUBLE_EQ(seconds(32), 0.1);
  EXPECT_DOUBLE_EQ(seconds(128), 1.6);
  EXPECT_TRUE(forecaster.about("fig", cell("a", "a", 128)).is_known);
  EXPECT_EQ(forecaster.about("other", cell("a", "a", 128)).seconds, Forecaster::unknown_seconds);
}

TEST(Forecast, AnUnknownCellTakesAboutAsLongAsOthersOfItsConfig) {
  Forecaster forecaster;
  const auto seconds = [&](const std::string& figure, const std::string& label) {
    return forecaster.about(figure, cell(label, "scene 9", std::nullopt)).seconds;
  };
  forecaster.note_round("fig", cell("a", "scene 1", std::nullopt), 10);
  EXPECT_NEAR(seconds("fig", "a"), std::sqrt(Forecaster::unknown_seconds * 10), 1e-9);
  forecaster.note_round("fig", cell("a", "scene 2", std::nullopt), 10);
  EXPECT_NEAR(seconds("fig", "a"), std::cbrt(Forecaster::unknown_seconds * 10 * 10), 1e-9);
  EXPECT_EQ(seconds("fig", "b"), Forecaster::unknown_seconds) << "another allocator";
  EXPECT_EQ(seconds("other", "a"), Forecaster::unknown_seconds) << "another config";
  EXPECT_FALSE(forecaster.about("fig", cell("a", "scene 9", std::nullopt)).is_known) << "a deadline does not follow it";
}

TEST(Forecast, EarlierResultsTellWhatTheSeriesDoesNot) {
  const Cell large = cell("a", "a", 32);
  EarlierResults earlier;
  earlier[large.id].seconds = 3;
  Forecaster forecaster(earlier);
  EXPECT_EQ(forecaster.about("fig", large).seconds, 3);
  forecaster.note_round("fig", cell("a", "a", 16), 0.5);
  EXPECT_EQ(forecaster.about("fig", large).seconds, 0.5) << "this run says more";
}

TEST(Forecast, ResultsOfAnotherModelAreScaledByTheMedianRatio) {
  EarlierResults earlier;
  for (const char* const name : {"1", "2", "3", "last"}) {
    EarlierCell& one = earlier[cell("a", name, std::nullopt).id];
    one.seconds = 2;
    one.other_model = true;
  }
  Forecaster forecaster(earlier);
  const Cell last = cell("a", "last", std::nullopt);
  EXPECT_EQ(forecaster.about("fig", last).seconds, 2);
  forecaster.note_round("fig", cell("a", "1", std::nullopt), 100);
  forecaster.note_round("fig", cell("a", "2", std::nullopt), 6);
  forecaster.note_round("fig", cell("a", "3", std::nullopt), 4);
  forecaster.note_round("fig", cell("a", "nobody knows it", std::nullopt), 4);
  EXPECT_EQ(forecaster.about("fig", last).seconds, 6);
}

TEST(Forecast, AFailureInEarlierResultsIsARisk) {
  const Cell bad = cell("a", "a", 32);
  EarlierResults earlier;
  earlier[bad.id] = {.failed = true, .words = "its status was crashed in kept"};
  const Forecaster forecaster(earlier);
  EXPECT_TRUE(fails(forecaster, bad));
  EXPECT_EQ(forecaster.about("fig", bad).reason, "its status was crashed in kept");
  EXPECT_FALSE(fails(forecaster, cell("a", "a", 64)));
}

TEST(Forecast, AFailureInTheOwnLogLeavesTheTimeOfEarlierResults) {
  const Cell bad = cell("a", "a", 32);
  EarlierResults earlier;
  earlier[bad.id].seconds = 3;
  Forecaster forecaster(earlier);
  forecaster.note_earlier_failure(bad, "its earlier status was crashed");
  EXPECT_TRUE(fails(forecaster, bad));
  EXPECT_EQ(forecaster.about("fig", bad).reason, "its earlier status was crashed");
  EXPECT_EQ(forecaster.about("fig", bad).seconds, 3);
}

TEST(Forecast, AFillOfASeriesTakesAtLeastAsLongAsItsLongest) {
  Forecaster forecaster;
  const auto in_series = [](const std::string& series, std::uint64_t gib) {
    Cell made = cell("a", series, 64);
    made.pool_bytes = gib << 30;
    return made;
  };
  EXPECT_EQ(forecaster.fill_seconds_of_series(in_series("a/1", 4)), 0);
  forecaster.note_fill(in_series("a/1", 4), 8);
  forecaster.note_fill(in_series("a/1", 4), 4);
  EXPECT_EQ(forecaster.fill_seconds_of_series(in_series("a/1", 4)), 8);
  EXPECT_EQ(forecaster.fill_seconds_of_series(in_series("a/1", 2)), 4) << "a pool of half the size";
  EXPECT_EQ(forecaster.fill_seconds_of_series(in_series("a/2", 4)), 0) << "another series";
}

TEST(Forecast, SkipsAfterTwoSmallerTimeouts) {
  Forecaster forecaster;
  forecaster.note_end("fig", cell("a", "a/1", 64), Status::timeout);
  EXPECT_EQ(forecaster.reason_to_skip("fig", cell("a", "a/1", 128)), std::nullopt);
  forecaster.note_end("fig", cell("a", "a/1", 256), Status::timeout);
  EXPECT_EQ(forecaster.reason_to_skip("fig", cell("a", "a/1", 128)), std::nullopt);  // only one smaller cell timed out
  EXPECT_EQ(forecaster.reason_to_skip("fig", cell("a", "a/1", 512)), "series a/1 timed out at 64 and 256");
  EXPECT_EQ(forecaster.reason_to_skip("fig", cell("a", "a/2", 512)), std::nullopt);
  EXPECT_EQ(forecaster.reason_to_skip("fig", cell("a", "a/1", std::nullopt)), std::nullopt);
  EXPECT_EQ(forecaster.reason_to_skip("other", cell("a", "a/1", 512)), std::nullopt);
}

TEST(Forecast, LargerPoolsMayServeWhereSmallerOnesAreFull) {
  Forecaster forecaster;
  const auto of = [](std::uint64_t pool) {
    Cell made = cell("a", "a", static_cast<double>(pool), {{"request_bytes", std::uint64_t{16}}});
    made.pool_bytes = pool;
    made.grows_pool = true;
    return made;
  };
  for (const std::uint64_t pool : {1024, 2048}) forecaster.note_end("fig", of(pool), Status::timeout);
  EXPECT_EQ(forecaster.reason_to_skip("fig", of(4096)), std::nullopt);
  EXPECT_FALSE(fails(forecaster, of(4096)));
}

TEST(Forecast, CrashesAndDeferralsSkipNothing) {
  Forecaster forecaster;
  for (const double size : {16, 32, 64}) forecaster.note_end("fig", cell("a", "a", size), Status::crashed);
  for (const double size : {16, 32, 64}) forecaster.note_deferred("fig", cell("a", "b", size));
  EXPECT_EQ(forecaster.reason_to_skip("fig", cell("a", "a", 128)), std::nullopt);
  EXPECT_EQ(forecaster.reason_to_skip("fig", cell("a", "b", 128)), std::nullopt);
}

TEST(Forecast, LargerCellsOfASeriesThatTimedOutOrWasDeferredFail) {
  Forecaster forecaster;
  forecaster.note_end("fig", on_grid(64, 1000), Status::timeout);
  forecaster.note_deferred("fig", on_grid(64, 3));
  EXPECT_TRUE(fails(forecaster, on_grid(128, 1000)));
  EXPECT_FALSE(fails(forecaster, on_grid(32, 1000)));
  EXPECT_EQ(forecaster.about("fig", on_grid(128, 1000)).reason, "series a/threads:1000 lost its worker at 64");
  EXPECT_NEAR(forecaster.about("fig", on_grid(128, 3)).risk, 0.7, 1e-9) << "one deferral may be chance";
  EXPECT_FALSE(fails(forecaster, on_grid(32, 3)));
  EXPECT_EQ(forecaster.about("fig", on_grid(128, 3)).reason,
            "series a/threads:3 reached the short deadline of a first round at 64");
  forecaster.note_deferred("fig", on_grid(128, 3));
  EXPECT_TRUE(fails(forecaster, on_grid(256, 3)));
}

TEST(Forecast, OnlyWhatCostsAWorkerIsARisk) {
  for (const Status status : {Status::skipped, Status::unsupported, Status::oom, Status::incorrect}) {
    Forecaster forecaster;
    for (const double size : {16, 32, 64}) forecaster.note_end("fig", cell("a", "a", size), status);
    EXPECT_LE(forecaster.about("fig", cell("a", "a", 128)).risk, 0.02) << word(status);
  }
}

TEST(Forecast, AnAllocatorIsJudgedByItsCellsInTheConfigThenInAll) {
  Forecaster forecaster;
  const auto of = [](const std::string& name) { return cell("a", name, std::nullopt, {{"shape", name}}); };
  forecaster.note_end("one", of("x"), Status::crashed);
  EXPECT_NEAR(forecaster.about("one", of("new")).risk, (1 + (1 + 2 * 0.02) / 3) / 2, 1e-9);
  EXPECT_EQ(forecaster.about("one", of("new")).reason, "a lost 1 worker in 1 cell of this config");
  EXPECT_DOUBLE_EQ(forecaster.about("two", of("new")).risk, 0.2) << "failures elsewhere keep it out of no config";
  for (const char* const name : {"p", "q", "r"}) forecaster.note_round("two", of(name), 0.1);
  EXPECT_LT(forecaster.about("two", of("new")).risk, 0.1);
  EXPECT_NEAR(forecaster.about("three", of("new")).risk, (1 + 2 * 0.02) / 6, 1e-9)
      << "as in all configs; an allocator that was not tried counts as two cells";
}

// Returns a cell whose pool has `gib` GiB.
Cell with_pool(const std::string& label, const std::string& workload, std::uint64_t gib, double growth = 1) {
  Cell made = cell(label, label, growth);
  made.workload = workload;
  made.pool_bytes = gib << 30;
  return made;
}

TEST(Fills, AFirstRoundThatFilledThePoolDoesNotMakeItsSeriesSlow) {
  Forecaster forecaster;
  forecaster.note_round("fig", with_pool("a", "get_page", 10, 1024), 27.5, {.seconds = 27.3});
  const Cell larger = with_pool("a", "get_page", 10, 8192);
  EXPECT_NEAR(forecaster.about("fig", larger).seconds, 0.2, 1e-9);
  EXPECT_NEAR(forecaster.fill_seconds(larger), 27.3, 1e-9);
}

TEST(Fills, AnotherModelIsComparedWithoutTheFill) {
  EarlierResults earlier;
  const Cell small = with_pool("a", "get_page", 10, 1);
  const Cell large = with_pool("a", "get_page", 10, 2);
  for (const Cell& each : {small, large}) {
    earlier[each.id].seconds = 2;
    earlier[each.id].other_model = true;
  }
  Forecaster forecaster(earlier);
  forecaster.note_round("fig", large, 31, {.seconds = 30});
  EXPECT_EQ(forecaster.about("fig", small).seconds, 1) << "half of the other model's time";
}

TEST(Fills, TakeTimeForTheSizeOfThePool) {
  Forecaster forecaster;
  EXPECT_EQ(forecaster.fill_seconds(with_pool("a", "get_page", 4)), 0);
  forecaster.note_fill(with_pool("a", "get_page", 4), 12);
  forecaster.note_fill(with_pool("a", "get_page", 1), 2);
  EXPECT_EQ(forecaster.fill_seconds(with_pool("a", "get_page", 8)), 24) << "the longest per GiB";
  EXPECT_EQ(forecaster.fill_seconds(with_pool("a", "get_page", 400)), 60) << "a fill has the cell's deadline";
  EXPECT_EQ(forecaster.fill_seconds(with_pool("b", "get_page", 8)), 0) << "another allocator";
}

TEST(Fills, OfOtherWorkloadsCountForWorkloadsThatFillPools) {
  Forecaster forecaster;
  forecaster.note_fill(with_pool("a", "get_page", 4), 12);
  EXPECT_EQ(forecaster.fill_seconds(with_pool("a", "scenario", 4)), 0) << "nobody has filled a pool there";
  forecaster.note_fill(with_pool("b", "scenario", 4), 1);
  EXPECT_EQ(forecaster.fill_seconds(with_pool("a", "scenario", 4)), 12);
  forecaster.note_fill(with_pool("a", "scenario", 4), 2);
  EXPECT_EQ(forecaster.fill_seconds(with_pool("a", "scenario", 4)), 2) << "the own workload says more";
}

TEST(Fills, AreNotForecastForAPoolThatStartsEmpty) {
  Forecaster forecaster;
  Cell cell = with_pool("a", "scenario", 4);
  cell.workload_parameters = {{"free_share", 0.5}};
  forecaster.note_fill(cell, 12);
  EXPECT_EQ(forecaster.fill_seconds(cell), 12);
  cell.workload_parameters = {{"free_share", 1.0}};
  EXPECT_EQ(forecaster.fill_seconds(cell), 0);
}

TEST(Fills, ThatAreShortCountAsAPartOfTheRound) {
  Forecaster forecaster;
  forecaster.note_round("fig", with_pool("a", "get_page", 1, 16), 0.2, {.seconds = 0.05});
  const Cell larger = with_pool("a", "get_page", 1, 32);
  EXPECT_EQ(forecaster.about("fig", larger).seconds, 0.2);
  EXPECT_EQ(forecaster.fill_seconds(larger), 0);
}

TEST(Fills, ThatAreShortShowThatTheOwnWorkloadFillsFast) {
  Forecaster forecaster;
  forecaster.note_round("fig", with_pool("other", "get_page", 1, 16), 2.1, {.seconds = 2});
  forecaster.note_round("fig", with_pool("a", "scenario", 1, 16), 2.1, {.seconds = 2});
  EXPECT_EQ(forecaster.fill_seconds(with_pool("a", "get_page", 10)), 20) << "only the other workload tells";
  forecaster.note_round("fig", with_pool("a", "get_page", 1, 16), 0.1, {.seconds = 0.01, .follows = true});
  EXPECT_EQ(forecaster.fill_seconds(with_pool("a", "get_page", 10)), 20) << "a copy tells nothing";
  forecaster.note_round("fig", with_pool("a", "get_page", 1, 16), 0.1, {.seconds = 0.01});
  EXPECT_DOUBLE_EQ(forecaster.fill_seconds(with_pool("a", "get_page", 10)), 0.1);
}

TEST(Fills, AreSharedByTheCellsOfAProcess) {
  Forecaster forecaster;
  const Cell cell = with_pool("a", "get_page", 10);
  EXPECT_EQ(forecaster.fill_part(cell, 20, false), 0);
  forecaster.note_fill(cell, 30);
  EXPECT_DOUBLE_EQ(forecaster.fill_part(cell, 20, false), 1.5);
  EXPECT_DOUBLE_EQ(forecaster.fill_part(cell, 1, false), 30);
  EXPECT_EQ(forecaster.fill_part(cell, 20, true), 0) << "it is paid";
}

TEST(Fills, AreSharedLessWhereCellsNeedTheirOwn) {
  Forecaster forecaster;
  const auto measured = [&](double growth, Fill fill) {
    forecaster.note_round("fig", with_pool("a", "scenario", 4, growth), fill.seconds + 0.1, fill);
  };
  measured(1, {.seconds = 12});
  for (const double growth : {2, 3}) measured(growth, {.seconds = 12, .follows = true});
  for (const double growth : {4, 5, 6, 7}) measured(growth, {.follows = true});
  // Two of six cells filled again, and the share counts one more cell that did not.
  const double again = 2.0 / 7;
  const Cell next = with_pool("a", "scenario", 4, 8);
  EXPECT_NEAR(forecaster.fill_part(next, 1, true), 12 * again, 1e-9);
  EXPECT_NEAR(forecaster.fill_part(next, 10, false), 12 * (1 + again * 9) / 10, 1e-9);
  // Cells of an allocator that marks pages fill nothing and do not change the share.
  for (const double growth : {1, 2, 3, 4, 5, 6}) {
    forecaster.note_round("fig", with_pool("marks", "scenario", 4, growth), 0.1, {.follows = true});
  }
  EXPECT_NEAR(forecaster.fill_part(next, 1, true), 12 * again, 1e-9);
}

TEST(Fills, OfAnAllocatorThatCannotBeCopiedAreRepeatedWhateverOthersDo) {
  Forecaster forecaster;
  const auto measured = [&](const std::string& label, double growth, Fill fill) {
    forecaster.note_round("fig", with_pool(label, "get_page", 4, growth), fill.seconds + 0.1, fill);
  };
  measured("copied", 1, {.seconds = 1});
  for (const double growth : {2, 3, 4, 5, 6, 7, 8}) measured("copied", growth, {.follows = true});
  measured("heap", 1, {.seconds = 6});
  measured("heap", 2, {.seconds = 6, .follows = true});
  EXPECT_DOUBLE_EQ(forecaster.fill_part(with_pool("heap", "get_page", 4, 3), 1, true), 3);
  EXPECT_EQ(forecaster.fill_part(with_pool("copied", "get_page", 4, 9), 1, true), 0);
}

TEST(Checks, ThatWereNotFinishedAreExpectedAgainOfTheSameAllocatorAndParameters) {
  Forecaster forecaster;
  Cell cell = with_pool("a", "get_page", 4, 1);
  cell.allocator = "halloc";
  Cell other = cell;
  other.allocator_parameters.emplace_back("slab_bytes", std::uint64_t{1});
  EXPECT_FALSE(forecaster.expects_unfinished_check(cell));
  forecaster.note_unfinished_check(cell);
  EXPECT_TRUE(forecaster.expects_unfinished_check(cell));
  EXPECT_FALSE(forecaster.expects_unfinished_check(other));
}

}  // namespace
}  // namespace allocbench::front
