// These tests check that a fixed event log gives the golden files.
#include "harness/front/results/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/front/log/event_log.hpp"
#include "tests/harness/golden_file.hpp"

namespace allocbench::front {
namespace {

Results golden_results() {
  const std::string path = golden_path("events.jsonl");
  return reduce(read_history(read_log_lines(path).lines, path));
}

TEST(Golden, Csv) { expect_golden("results.csv", results_csv(golden_results())); }
TEST(Golden, Json) { expect_golden("results.json", results_json(golden_results())); }
TEST(Golden, Table) { expect_golden("table.txt", results_table(golden_results(), false)); }

TEST(Results, ACellThatIsNotOkHasNoNumberAnywhere) {
  const Results results = golden_results();
  std::istringstream csv(results_csv(results));
  std::size_t failed_rows = 0;
  for (std::string line; std::getline(csv, line);) {
    if (line.find(",timeout,") == std::string::npos && line.find(",incorrect,") == std::string::npos) continue;
    ++failed_rows;
    EXPECT_TRUE(line.ends_with(",,,,,,,,,,,,")) << line;
  }
  EXPECT_EQ(failed_rows, 2u);
  const auto json = nlohmann::ordered_json::parse(results_json(results));
  for (const auto& cell : json["allocbench"]["cells"]) {
    const bool ok = cell["status"] == "ok";
    for (const char* key : {"phases", "counters", "metrics"}) EXPECT_EQ(cell.contains(key), ok) << cell["id"];
  }
  for (const auto& row : json["benchmarks"]) {
    EXPECT_EQ(row["name"].get<std::string>().find("hanging/request_bytes:32"), std::string::npos);
  }
}

TEST(Results, WhatIsNotCountedIsAbsent) {
  const auto counted_rows = [](const Results& each) {
    const std::string csv = results_csv(each);
    return csv.find("steps_per_malloc") != std::string::npos;
  };
  RunHistory history = read_history(read_log_lines(golden_path("events.jsonl")).lines, "events.jsonl");
  for (CellHistory& cell : history.cells) {
    cell.facts.counted = protocol::Counted{{{"steps_per_malloc", {0, 0}}, {"operations_per_free", {0, 0}}}, {}};
  }
  EXPECT_FALSE(counted_rows(reduce(history)));
  for (CellHistory& cell : history.cells) cell.facts.counted->values[0].per_pass = {1, 1};
  EXPECT_TRUE(counted_rows(reduce(history)));
}

// Divides the samples of a cell into rounds of these sizes.
void regroup(CellHistory& cell, const std::vector<std::size_t>& sizes) {
  std::vector<protocol::Sample> samples;
  for (const auto& round : cell.rounds) samples.insert(samples.end(), round.begin(), round.end());
  cell.rounds.clear();
  auto next = samples.begin();
  for (const std::size_t size : sizes) {
    cell.rounds.emplace_back(next, next + static_cast<std::ptrdiff_t>(size));
    next += static_cast<std::ptrdiff_t>(size);
  }
  ASSERT_EQ(next, samples.end());
}

// The first cell has rounds of two, one and one samples. The spread of the second cell is larger.
TEST(Results, FewRoundsKeepTheirValuesAndAnIntervalToJudgeBy) {
  RunHistory history = read_history(read_log_lines(golden_path("events.jsonl")).lines, "events.jsonl");
  history.cells.resize(2);
  regroup(history.cells[0], {2, 1, 1});
  regroup(history.cells[1], {1, 1, 1, 1});
  const Results results = reduce(history);
  const PhaseResult& first = results.cells[0].phases[0];
  ASSERT_TRUE(first.few_rounds && !first.time.interval);
  EXPECT_THAT(first.few_rounds->values,
              testing::ElementsAre(testing::DoubleEq(18e-6), testing::DoubleEq(17e-6), testing::DoubleEq(24e-6)));
  const double one = log_variance(first.few_rounds->values);
  const double other = log_variance(results.cells[1].phases[0].few_rounds->values);
  EXPECT_DOUBLE_EQ(first.few_rounds->least_spread, std::sqrt((one + other) / 2)) << "the median of both cells";
  const auto json = nlohmann::ordered_json::parse(results_json(results))["allocbench"]["cells"][0]["phases"][0];
  EXPECT_EQ(json["few_rounds"]["values"].size(), 3u);
  EXPECT_EQ(json["few_rounds"]["low"], first.few_rounds->interval->low);
  EXPECT_EQ(json["few_rounds"]["high"], first.few_rounds->interval->high);
  EXPECT_TRUE(json["low"].is_null());
  regroup(history.cells[0], {2, 2});
  EXPECT_FALSE(reduce(history).cells[0].phases[0].few_rounds) << "two rounds are provisional";
}

using Json = nlohmann::ordered_json;

constexpr const char* noisy = "0000000000000001";

// Returns the log of one cell without an end. The plan has `rounds` rounds for the cell. The log has a round of one
// sample for each of `seconds`.
std::vector<std::string> log_of(const Json& config, const Json& rounds, std::vector<double> seconds,
                                const char* allocator = "a") {
  Json cell = {{"event", "cell"},    {"time", "t"},      {"id", noisy},       {"series", "a"},
               {"workload", "w"},    {"seed", 1},        {"state", "fresh"},  {"allocator", allocator},
               {"pool_bytes", 1024}, {"backend", "cpu"}, {"axes", {{"x", 1}}}};
  cell["allocator_parameters"] = Json::object();
  cell["workload_parameters"] = {{"x", 1}};
  if (!rounds.is_null()) cell["rounds"] = rounds;
  const Json run = {{"event", "run"},
                    {"time", "t"},
                    {"format", 2},
                    {"config", config},
                    {"backend", "cpu"},
                    {"seed", 1},
                    {"planned", {noisy, "0000000000000002"}}};
  std::vector<std::string> lines = {run.dump(), cell.dump()};
  const auto add = [&](Json event) {
    event.update({{"time", "t"}, {"cell", noisy}, {"attempt", 1}});
    lines.push_back(event.dump());
  };
  add({{"event", "start"}});
  add({{"event", "verified"}});
  for (std::size_t round = 0; round < seconds.size(); ++round) {
    const Json phase = {{"name", "alloc"}, {"seconds", seconds[round]}, {"operations", 10}};
    add({{"event", "sample"}, {"index", 0}, {"phases", Json::array({phase})}, {"counters", {{"steps", 4}}}});
    add({{"event", "round"}, {"round", round}, {"samples", 1}, {"seconds", 0.5}});
  }
  return lines;
}

std::string end_of(const char* status) {
  return Json({{"event", "end"}, {"time", "t"}, {"cell", noisy}, {"attempt", 1}, {"status", status}}).dump();
}

Results results_of(const std::vector<std::string>& lines) { return reduce(read_history(lines, "events.jsonl")); }

const Json figure = {{"name", "f"}};

TEST(Provisional, OneWholeRoundIsAValueWithAMark) {
  const Results results = results_of(log_of(figure, 6, {0.25}));
  ASSERT_EQ(results.cells.size(), 1u);
  const CellResult& cell = results.cells[0];
  EXPECT_TRUE(cell.provisional && cell.status() == Status::ok && !cell.has_end());
  EXPECT_EQ(cell.phases[0].time.centre, 0.25);
  EXPECT_FALSE(cell.phases[0].time.interval || cell.phases[0].few_rounds);
  EXPECT_EQ(what_is_missing(results), ", 1 of these provisional, 1 not measured");
  const Json json = Json::parse(results_json(results))["allocbench"];
  EXPECT_EQ(json["unfinished"], 2);
  EXPECT_EQ(json["cells"][0]["provisional"], true);
  EXPECT_EQ(json["cells"][0]["stop"], "not finished");
  const std::string csv = results_csv(results);
  for (const char* row :
       {"alloc,time,s,none,median,0.25,,,,1,provisional,\n", "alloc,throughput,op/s,none,median,40,,,,1,provisional,\n",
        ",steps,,none,median,4,,,,1,provisional,\n"})
    EXPECT_THAT(csv, testing::HasSubstr(row));
  EXPECT_THAT(results_table(results, false),
              testing::HasSubstr("~250 ms  ~40.0 op/s\n~ provisional: fewer than 3 rounds\n2 cells, 1 ok, "
                                 "1 of these provisional, 1 not measured\n"));
}

TEST(Provisional, IsWhatLacksRoundsOfThree) {
  const auto provisional = [](const Json& rounds, const std::vector<double>& seconds) {
    return results_of(log_of(figure, rounds, seconds)).cells.at(0).provisional;
  };
  EXPECT_TRUE(provisional(6, {1, 2}));
  EXPECT_FALSE(provisional(6, {1, 2, 3}));
  EXPECT_FALSE(provisional(1, {1})) << "one round by design";
  EXPECT_TRUE(provisional(2, {1}));
  EXPECT_FALSE(provisional(2, {1, 2}));
  std::vector<std::string> ended = log_of(figure, 6, {1, 2});
  ended.push_back(end_of("ok"));
  const Results results = results_of(ended);
  EXPECT_TRUE(results.cells[0].provisional) << "the wall bound ended it";
  const std::string json = results_json(results_of(log_of(figure, 6, {1, 2, 3})));
  EXPECT_EQ(json.find("provisional"), std::string::npos);
}

TEST(Provisional, LogsWhoseCellsDoNotTellHaveTheRoundsOfTheirConfig) {
  const auto provisional = [](const Json& changes, const char* allocator = "a") {
    Json config = figure;
    config.update(changes);
    return results_of(log_of(config, Json(), {1}, allocator)).cells.at(0).provisional;
  };
  EXPECT_FALSE(provisional(Json::object())) << "the default of the CPU is one round";
  EXPECT_TRUE(provisional({{"rounds", 6}}));
  EXPECT_FALSE(provisional({{"rounds", 1}}));
  EXPECT_FALSE(provisional({{"rounds", 6}, {"overrides", {{"a", {{"rounds", 1}}}}}}));
  EXPECT_TRUE(provisional({{"rounds", 6}, {"overrides", {{"a", {{"rounds", 1}}}}}}, "b"));
}

TEST(Provisional, AFailureInALaterRoundRemovesTheValue) {
  std::vector<std::string> lines = log_of(figure, 6, {1, 2});
  lines.push_back(end_of("crashed"));
  const Results results = results_of(lines);
  EXPECT_EQ(results.cells.at(0).status(), Status::crashed);
  EXPECT_TRUE(results.cells[0].phases.empty());
  EXPECT_EQ(results_json(results).find("provisional"), std::string::npos);
}

TEST(Provisional, ARoundThatWasNotVerifiedOrNotWholeIsNoNumber) {
  std::vector<std::string> lines = log_of(figure, 6, {1});
  lines.pop_back();
  EXPECT_TRUE(results_of(lines).cells.empty());
  lines = log_of(figure, 6, {1});
  lines.erase(lines.begin() + 3);
  EXPECT_TRUE(results_of(lines).cells.empty());
}

// There are six rounds of one sample. Each has "steps", and the last three have "late".
TEST(Results, CountersOfSixRoundsHaveAnInterval) {
  RunHistory history = read_history(read_log_lines(golden_path("events.jsonl")).lines, "events.jsonl");
  history.cells.resize(1);
  CellHistory& cell = history.cells[0];
  cell.rounds.assign(6, {cell.rounds.at(0).at(0)});
  for (std::size_t round = 0; round < 6; ++round) {
    auto& counters = cell.rounds[round][0].counters;
    counters = {{"steps", static_cast<double>(round + 1)}};
    if (round > 2) counters.emplace_back("late", 1.0);
  }
  const Results results = reduce(history);
  const auto json = nlohmann::ordered_json::parse(results_json(results))["allocbench"]["cells"][0];
  EXPECT_EQ(json["counters"]["steps"], 3.5);
  const auto& interval = results.cells[0].counters.at(0).value.interval;
  ASSERT_TRUE(interval && interval->low > 1 && interval->high < 6);
  EXPECT_EQ(json["counter_intervals"]["steps"], nlohmann::ordered_json({interval->low, interval->high}));
  EXPECT_EQ(json["counters"]["late"], 1.0);
  EXPECT_FALSE(json["counter_intervals"].contains("late")) << "three rounds have no interval";
}

TEST(Results, TheFirstCsvRowOfACellHasItsHistograms) {
  RunHistory history = read_history(read_log_lines(golden_path("events.jsonl")).lines, "events.jsonl");
  history.cells[0].facts.counted = protocol::Counted{{}, {{"steps", {{2, 7936}, {4, 256}}}, {"sizes", {{16, 1}}}}};
  std::istringstream csv(results_csv(reduce(history)));
  std::vector<std::string> with;
  for (std::string line; std::getline(csv, line);) {
    if (line.find("{\"\"s") != std::string::npos) with.push_back(line);
  }
  ASSERT_EQ(with.size(), 1u);
  EXPECT_THAT(with[0],
              testing::AllOf(testing::HasSubstr("," + history.cells[0].id + ","), testing::HasSubstr(",alloc,time,")));
  EXPECT_TRUE(with[0].ends_with(R"(,"{""steps"":[[2,7936],[4,256]],""sizes"":[[16,1]]}")")) << with[0];
}

TEST(Results, EveryCsvRowHasAllColumns) {
  std::istringstream csv(results_csv(golden_results()));
  std::string header;
  std::getline(csv, header);
  const auto columns = [](const std::string& line) {
    std::size_t count = 1;
    bool quoted = false;
    for (const char letter : line) {
      if (letter == '"') quoted = !quoted;
      if (letter == ',' && !quoted) ++count;
    }
    return count;
  };
  EXPECT_EQ(columns(header), 34u);
  for (std::string line; std::getline(csv, line);) EXPECT_EQ(columns(line), 34u) << line;
}

}  // namespace
}  // namespace allocbench::front
