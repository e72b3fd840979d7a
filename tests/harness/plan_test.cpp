// These tests check how configs become cells, batches and series.
#include "harness/front/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/front/common/errors.hpp"
#include "harness/front/plan/plan_text.hpp"
#include "protocol/parameter_values.hpp"
#include "tests/harness/test_catalogue.hpp"

namespace allocbench::front {
namespace {

using nlohmann::ordered_json;

ordered_json base() {
  return {{"name", "paper/fig1"},
          {"allocators", {"scatteralloc"}},
          {"workload", {{"id", "alloc_free"}}},
          {"pool_bytes", "1MiB"}};
}

Plan plan_of(const ordered_json& json) {
  Problems problems;
  const Catalogue catalogue = testing::test_catalogue();
  const Config config = read_config(json.dump(), "test.json", {catalogue}, {}, problems);
  Plan plan = make_plan(config, catalogue, problems);
  EXPECT_TRUE(problems.empty()) << format_problems("test.json", problems);
  return plan;
}

std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> list;
  for (const Batch& batch : plan.batches) {
    for (const Cell& cell : batch.cells) list.push_back(cell.name);
  }
  return list;
}

TEST(CellDefinition, LeavesOutAnAlignmentThatAsksForNothing) {
  CellDescription plain;
  plain.workload_parameters = {{"threads", std::uint64_t{32}}};
  CellDescription asks_nothing = plain;
  asks_nothing.workload_parameters.emplace_back("alignment", std::uint64_t{1});
  CellDescription aligned = plain;
  aligned.workload_parameters.emplace_back("alignment", std::uint64_t{128});
  EXPECT_EQ(cell_definition(asks_nothing), cell_definition(plain)) << "kept results have no such parameter";
  EXPECT_NE(cell_definition(aligned), cell_definition(plain));
}

TEST(Plan, OneCellWithoutASweep) {
  const Plan plan = plan_of(base());
  EXPECT_THAT(names(plan), ::testing::ElementsAre("paper/fig1/scatteralloc"));
  EXPECT_EQ(plan.batches[0].cells[0].series, "scatteralloc");
}

TEST(Plan, PlotXVariesFastestAndNamesTheSeries) {
  ordered_json json = base();
  json["sweep"] = {{"request_bytes", {16, 32}}, {"blocks", {1, 2}}};
  json["plot"] = {{"kind", "lines"}, {"x", "request_bytes"}};
  const Plan plan = plan_of(json);
  EXPECT_THAT(names(plan), ::testing::ElementsAre("paper/fig1/scatteralloc/request_bytes:16/blocks:1",
                                                  "paper/fig1/scatteralloc/request_bytes:32/blocks:1",
                                                  "paper/fig1/scatteralloc/request_bytes:16/blocks:2",
                                                  "paper/fig1/scatteralloc/request_bytes:32/blocks:2"));
  EXPECT_EQ(plan.batches[0].cells[2].series, "scatteralloc/blocks:2");
  EXPECT_EQ(plan.batches[0].cells[1].growth, 32);
}

TEST(Plan, ZippedAxesAdvanceTogether) {
  ordered_json json = base();
  json["zip"] = {{{"request_bytes", {16, 32}}, {"blocks", {8, 4}}}};
  EXPECT_THAT(names(plan_of(json)), ::testing::ElementsAre("paper/fig1/scatteralloc/request_bytes:16/blocks:8",
                                                           "paper/fig1/scatteralloc/request_bytes:32/blocks:4"));
}

TEST(Plan, PoolsAndAllocatorParametersMakeBatches) {
  ordered_json json = base();
  json["sweep"] = {{"pool_bytes", {"1MiB", "2MiB"}}, {"allocator.page_bytes", {64, 128}}, {"blocks", {1, 2, 3}}};
  const Plan plan = plan_of(json);
  ASSERT_EQ(plan.batches.size(), 4u);
  EXPECT_EQ(plan.cell_count(), 12u);
  for (const Batch& batch : plan.batches) {
    EXPECT_EQ(batch.cells.size(), 3u);
    for (const Cell& cell : batch.cells) {
      EXPECT_EQ(cell.pool_bytes, batch.pool_bytes);
      EXPECT_EQ(*protocol::find_value(cell.allocator_parameters, "page_bytes"),
                *protocol::find_value(batch.allocator_parameters, "page_bytes"));
    }
  }
}

TEST(Plan, TheL2CacheIsAnAxisAndDefinesACellOnlyWhenItIsFlushed) {
  ordered_json json = base();
  json["sweep"] = {{"l2", {"warm", "flushed"}}};
  const Plan plan = plan_of(json);
  EXPECT_THAT(names(plan),
              ::testing::ElementsAre("paper/fig1/scatteralloc/l2:warm", "paper/fig1/scatteralloc/l2:flushed"));
  const auto& cells = plan.batches[0].cells;
  EXPECT_EQ(cells[0].id, plan_of(base()).batches[0].cells[0].id) << "warm is what cells always were";
  EXPECT_NE(cells[1].id, cells[0].id);
  json = base();
  json["l2"] = "flushed";
  EXPECT_EQ(plan_of(json).batches[0].cells[0].id, cells[1].id);
}

TEST(Plan, TheStateAndItsRoundsAreAxesAndRoundsDefineAgedCellsOnly) {
  ordered_json json = base();
  json["aged_rounds"] = 10;
  json["sweep"] = {{"state", {"fresh", "reused", "aged"}}};
  const auto states = plan_of(json).batches[0].cells;
  ASSERT_EQ(states.size(), 3u);
  EXPECT_EQ(states[0].id, plan_of(base()).batches[0].cells[0].id);
  EXPECT_EQ(cell_definition(states[1]).count("aged_rounds"), 0u);
  EXPECT_EQ(cell_definition(states[2]).at("aged_rounds"), 10);
  json = base();
  json["state"] = "aged";
  json["sweep"] = {{"aged_rounds", {10, 100}}};
  const auto rounds = plan_of(json).batches[0].cells;
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[0].id, states[2].id);
  EXPECT_NE(rounds[1].id, states[2].id);
}

TEST(Plan, ExcludesByAxisAndAllocator) {
  ordered_json json = base();
  json["allocators"] = {"halloc", "scatteralloc"};
  json["sweep"] = {{"blocks", {1, 2, 3}}};
  json["exclude"] = {{{"allocator", "halloc"}, {"blocks", {2, 3}}}, {{"blocks", 1}}};
  EXPECT_THAT(names(plan_of(json)),
              ::testing::ElementsAre("paper/fig1/scatteralloc/blocks:2", "paper/fig1/scatteralloc/blocks:3"));
}

TEST(Plan, IdsDependOnWhatDefinesTheCellAndOnNothingElse) {
  const std::string id = plan_of(base()).batches[0].cells[0].id;
  // Stored results are found by this id. If it changes, no stored result is found.
  EXPECT_EQ(id, "d8a45173fe942ce9");
  const auto changed = [](const char* change) {
    ordered_json json = base();
    json.update(ordered_json::parse(change));
    return plan_of(json).batches[0].cells[0].id;
  };
  for (const char* change : {R"({"name": "other"})", R"({"repetitions": 9})", R"({"deadline_s": 1})"}) {
    EXPECT_EQ(changed(change), id) << change;
  }
  for (const char* change : {R"({"seed": 2})", R"({"pool_bytes": "2MiB"})", R"({"state": "reused"})"}) {
    EXPECT_NE(changed(change), id) << change;
  }
  // A config that states a default has the same cell.
  ordered_json explicit_default = base();
  explicit_default["workload"]["blocks"] = 4;
  EXPECT_EQ(plan_of(explicit_default).batches[0].cells[0].id, id);
}

TEST(Plan, RefusesTheSameCellTwice) {
  ordered_json json = base();
  json["allocators"] = {"halloc", {{"id", "halloc"}, {"label", "again"}}};
  Problems problems;
  const Catalogue catalogue = testing::test_catalogue();
  make_plan(read_config(json.dump(), "test.json", {catalogue}, {}, problems), catalogue, problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems.list()[0].found, "one cell twice, as paper/fig1/halloc and as paper/fig1/again");
}

TEST(Plan, FiltersByName) {
  ordered_json json = base();
  json["sweep"] = {{"blocks", {1, 2, 13}}};
  Plan plan = plan_of(json);
  filter_plan(plan, "blocks:1$");
  EXPECT_THAT(names(plan), ::testing::ElementsAre("paper/fig1/scatteralloc/blocks:1"));
  EXPECT_THROW(filter_plan(plan, "blocks:(2"), UsageError);
  EXPECT_THROW(filter_plan(plan, "nothing"), UsageError);
  EXPECT_THROW(filter_plan(plan, std::string(50'000, '(')), UsageError);
  EXPECT_THROW(filter_plan(plan, "(x+x+)+y"), UsageError);  // the match does not take exponential time
}

TEST(Plan, RoundsComeInSeededOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(order_of_round(11, 7, 0)));
  EXPECT_EQ(order_of_round(11, 7, 1), order_of_round(11, 7, 1));
  EXPECT_NE(order_of_round(11, 7, 1), order_of_round(11, 7, 2));
  EXPECT_NE(order_of_round(11, 7, 1), order_of_round(11, 8, 1));
  const auto order = order_of_round(11, 7, 2);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 11u);
}

TEST(Plan, CellsKnowTheirRounds) {
  ordered_json json = base();
  json["allocators"] = {"halloc", "scatteralloc"};
  const auto cell = [&](std::size_t batch) { return plan_of(json).batches[batch].cells[0]; };
  EXPECT_EQ(cell(0).rounds, default_rounds("cpu"));
  EXPECT_EQ(cell(0).least_rounds, 1u);
  json["rounds"] = 10;
  EXPECT_EQ(cell(0).least_rounds, 6u);
  EXPECT_EQ(cell(0).least_long_rounds, 3u);
  json["overrides"] = {{"halloc", {{"rounds", 4}, {"precision", 0.05}, {"wall_bound_s", 2}}}};
  EXPECT_EQ(cell(0).rounds, 4u);
  EXPECT_EQ(cell(0).least_rounds, 4u);
  EXPECT_EQ(cell(0).precision, 0.05);
  EXPECT_EQ(cell(0).wall_bound_seconds, 2);
  json["overrides"]["halloc"]["least_rounds"] = 4;
  EXPECT_EQ(cell(0).least_long_rounds, 4u);
  EXPECT_EQ(cell(1).rounds, 10u);
  EXPECT_EQ(cell(1).precision, 0.013);
}

TEST(Plan, TextCountsCellsAndTime) {
  ordered_json json = base();
  json["sweep"] = {{"blocks", {1, 2}}};
  json["deadline_s"] = 30;
  json["repetitions"] = 3;
  const std::string text = describe_plan(plan_of(json), {std::uint64_t{8 << 20}});
  EXPECT_THAT(text, ::testing::HasSubstr("batch 1 of 1: scatteralloc, pool 1 MiB, device heap 8 MiB, 2 cells\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("scatteralloc: 2 cells, at most 6 samples of alloc_free\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("paper/fig1: 2 cells in 1 series and 1 batch, at most 6 samples"));
  EXPECT_THAT(text, ::testing::HasSubstr("Worst case: 1 min 00 s plus worker start-up. Peak pool and heap: 9 MiB.\n"));
}

}  // namespace
}  // namespace allocbench::front
