// These tests check how the event log is read: torn last lines, lines of other programs, and which attempt of a cell
// counts.
#include "harness/front/log/event_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/front/common/errors.hpp"
#include "harness/front/log/output_folder.hpp"
#include "harness/front/log/run_history.hpp"

namespace allocbench::front {
namespace {

class EventLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "allocbench_events_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl";
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
};

const std::vector<std::string> one_cell = {
    R"({"event":"run","time":"2026-01-01T00:00:00.000Z","format":2,"allocbench":{"revision":"first"},"config":{"name":"f"},"backend":"cpu","seed":1})",
    R"({"event":"device","time":"t","device":{"name":"D"}})",
    R"({"event":"cell","time":"t","id":"0000000000000001","series":"a","allocator":"a","allocator_parameters":{},"workload":"w","workload_parameters":{"x":1},"pool_bytes":1024,"backend":"cpu","seed":1,"state":"fresh","axes":{"x":1}})"};

std::string start(int attempt) {
  return nlohmann::ordered_json({{"event", "start"}, {"time", "t"}, {"cell", "0000000000000001"}, {"attempt", attempt}})
      .dump();
}
std::string sample(int attempt, double seconds) {
  return nlohmann::ordered_json({{"event", "sample"},
                                 {"time", "t"},
                                 {"cell", "0000000000000001"},
                                 {"attempt", attempt},
                                 {"index", 0},
                                 {"phases", {{{"name", "alloc"}, {"seconds", seconds}, {"operations", 10}}}}})
      .dump();
}
std::string end(int attempt, const char* status) {
  return nlohmann::ordered_json({{"event", "end"},
                                 {"time", "t"},
                                 {"cell", "0000000000000001"},
                                 {"attempt", attempt},
                                 {"status", status},
                                 {"reason", ""}})
      .dump();
}

RunHistory history_of(std::vector<std::string> more) {
  std::vector<std::string> lines = one_cell;
  lines.insert(lines.end(), more.begin(), more.end());
  return read_history(lines, "events.jsonl");
}

TEST_F(EventLogTest, ALogThatAnotherRunHasContinuedIsRefused) {
  write("12345\n");
  EXPECT_NO_THROW(EventLog(path_, 6));
  write("12345\n6\n");
  EXPECT_THROW(EventLog(path_, 6), EnvironmentError);
  EXPECT_NO_THROW(EventLog{path_});
}

TEST_F(EventLogTest, AppendsStampedLines) {
  EventLog log(path_);
  log.append({{"event", "start"}, {"cell", "1"}});
  EXPECT_THAT(text(), ::testing::MatchesRegex(R"(\{"event":"start","time":"....-..-..T..:..:......Z","cell":"1"\}
)"));
}

TEST_F(EventLogTest, IsLockedWhileOpen) {
  const EventLog log(path_);
  EXPECT_THROW(EventLog second(path_), EnvironmentError);
}

TEST_F(EventLogTest, LeavesOutATornLine) {
  write("{\"a\":1}\n{\"b\":2}\n{\"c\":");
  const LogLines lines = read_log_lines(path_);
  EXPECT_THAT(lines.lines, ::testing::ElementsAre("{\"a\":1}", "{\"b\":2}"));
  EXPECT_TRUE(lines.torn);
  cut_torn_line(path_, lines);
  EXPECT_EQ(text(), "{\"a\":1}\n{\"b\":2}\n");
  EXPECT_FALSE(read_log_lines(path_).torn);
}

// A last line without a newline may lack digits of a number.
TEST_F(EventLogTest, ALineWithoutItsEndIsTorn) {
  write("{\"a\":1}\n{\"b\":2}");
  EXPECT_EQ(read_log_lines(path_).lines.size(), 1u);
}

TEST_F(EventLogTest, BytesThatAreNoTextDoNotStopTheLog) {
  EventLog log(path_);
  log.append({{"event", "end"}, {"output_tail", "\xff\xfe"}});
  EXPECT_EQ(read_log_lines(path_).lines.size(), 1u);
}

TEST(RunHistory, TheLastEndCountsWithItsSamples) {
  const RunHistory history =
      history_of({start(1), sample(1, 1.0), end(1, "crashed"), start(2), sample(2, 2.0), sample(2, 3.0), end(2, "ok")});
  const CellHistory& cell = history.cells.at(0);
  EXPECT_EQ(cell.end->status, Status::ok);
  EXPECT_EQ(cell.ended_attempt, 2u);
  ASSERT_THAT(cell.rounds, ::testing::ElementsAre(::testing::SizeIs(2)));
  EXPECT_EQ(cell.rounds[0][0].phases[0].seconds, 2.0);
  EXPECT_EQ(cell.origin.device, "D");
}

TEST(RunHistory, ACellHasTheRevisionOfTheRunThatEndedIt) {
  auto later = nlohmann::ordered_json::parse(one_cell[0]);
  later["allocbench"]["revision"] = "later";
  EXPECT_EQ(history_of({start(1), end(1, "oom"), later.dump()}).cells[0].origin.sources.revision, "first");
  EXPECT_EQ(
      history_of({start(1), end(1, "oom"), later.dump(), start(2), end(2, "oom")}).cells[0].origin.sources.revision,
      "later");
}

TEST(RunHistory, AnAttemptWithoutAnEndChangesNothing) {
  const RunHistory history =
      history_of({start(1), sample(1, 1.0), end(1, "ok"), start(2), sample(2, 2.0), sample(2, 3.0)});
  EXPECT_EQ(history.cells[0].ended_attempt, 1u);
  EXPECT_THAT(history.cells[0].rounds, ::testing::ElementsAre(::testing::SizeIs(1)));
  EXPECT_EQ(history.cells[0].attempts, 2u);
}

std::string round(int attempt, int samples) {
  return nlohmann::ordered_json({{"event", "round"},
                                 {"time", "t"},
                                 {"cell", "0000000000000001"},
                                 {"attempt", attempt},
                                 {"round", 0},
                                 {"samples", samples},
                                 {"seconds", 0.5}})
      .dump();
}

TEST(RunHistory, ACellThatWasLeftOutAndBeginsLaterIsUnfinished) {
  auto skipped = nlohmann::ordered_json::parse(end(1, "skipped"));
  skipped["left_out"] = true;
  const std::string left_out = skipped.dump();
  EXPECT_EQ(history_of({start(1), left_out}).finished(), 0u);
  const RunHistory history = history_of({start(1), left_out, start(2), sample(2, 1.0), round(2, 1)});
  EXPECT_EQ(history.finished(), 0u);
  EXPECT_EQ(history.unfinished(), 1u);
  EXPECT_EQ(history.cells[0].open.rounds.size(), 1u);
}

TEST(RunHistory, ACellIsFinishedIfItsEndIsFinal) {
  const auto finished = [](const char* status, const std::set<std::string>& is_true = {}) {
    auto last = nlohmann::ordered_json::parse(end(1, status));
    for (const std::string& name : is_true) last[name] = true;
    const RunHistory history = history_of({start(1), sample(1, 1.0), last.dump()});
    EXPECT_EQ(history.unfinished(), 0u) << "it has an end";
    return history.finished() == 1;
  };
  EXPECT_TRUE(finished("ok"));
  EXPECT_TRUE(finished("timeout"));
  EXPECT_TRUE(finished("skipped"));
  EXPECT_FALSE(finished("skipped", {"left_out"})) << "lack of time";
  EXPECT_TRUE(finished("skipped", {"left_out", "too_large"})) << "lack of memory";
}

TEST(RunHistory, KnowsTheFillOfTheFirstRoundOrOfADeferredAttempt) {
  const auto with_fill = [](const std::string& line, double seconds) {
    auto event = nlohmann::ordered_json::parse(line);
    event["fill_seconds"] = seconds;
    return event.dump();
  };
  const std::string deferred =
      R"({"event":"deferred","time":"t","cell":"0000000000000001","attempt":1,"reason":"slow"})";
  EXPECT_EQ(history_of({start(1), with_fill(deferred, 15)}).cells[0].fill_seconds, 15);
  EXPECT_TRUE(history_of({start(1), deferred}).cells[0].tried);
  const std::string untried =
      R"({"event":"deferred","time":"t","cell":"0000000000000001","attempt":1,"reason":"slow","tried":false})";
  EXPECT_FALSE(history_of({start(1), untried}).cells[0].tried);
  EXPECT_EQ(history_of({start(1), sample(1, 1.0), with_fill(round(1, 1), 0.25)}).cells[0].fill_seconds, 0.25);
  const RunHistory history = history_of({start(1), with_fill(deferred, 15), start(2), sample(2, 1.0), round(2, 1),
                                         sample(2, 1.0), with_fill(round(2, 1), 9)});
  EXPECT_EQ(history.cells[0].fill_seconds, 0) << "the first round of the last attempt counts";
}

TEST(RunHistory, SamplesAreGroupedByRound) {
  const RunHistory history =
      history_of({start(1), sample(1, 1.0), sample(1, 2.0), round(1, 2), sample(1, 3.0), round(1, 1), end(1, "ok")});
  EXPECT_THAT(history.cells[0].rounds, ::testing::ElementsAre(::testing::SizeIs(2), ::testing::SizeIs(1)));
}

TEST(RunHistory, AResumedRunGoesOnBehindTheLastWholeRound) {
  const RunHistory history = history_of({start(1), sample(1, 1.0), round(1, 1), sample(1, 2.0), one_cell[0]});
  EXPECT_EQ(history.cells[0].open.rounds.size(), 1u);
  EXPECT_TRUE(history.cells[0].open.running.empty());
  EXPECT_EQ(history.cells[0].open.seconds, 0.5);
  EXPECT_THROW(history_of({start(1), sample(1, 1.0), round(1, 2)}), UsageError);
}

TEST(RunHistory, ACellWithoutAnEndIsUnfinished) {
  const RunHistory history = history_of({start(1), sample(1, 1.0)});
  EXPECT_EQ(history.finished(), 0u);
  EXPECT_EQ(history.cells.size(), 1u);
}

TEST(RunHistory, TotalIsImplied) {
  const RunHistory history = history_of({start(1), sample(1, 1.5), end(1, "ok")});
  ASSERT_EQ(history.cells[0].rounds[0][0].phases.size(), 2u);
  EXPECT_EQ(history.cells[0].rounds[0][0].phases[1].name, "total");
  EXPECT_EQ(history.cells[0].rounds[0][0].phases[1].seconds, 1.5);
}

TEST(RunHistory, NamesTheLineThatIsNoEvent) {
  try {
    history_of({R"({"event":"end","cell":"unknown"})"});
    FAIL() << "an end without a cell was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                ::testing::StartsWith("events.jsonl:4: not a valid event: no earlier line describes the cell"));
    EXPECT_THAT(error.what(),
                ::testing::EndsWith("Restore the log from a copy, or delete this line and all later ones; "
                                    "--resume then measures the rest."));
  }
  EXPECT_THROW(read_history({}, "events.jsonl"), UsageError);
}

// A damaged line gives a message with file and line. Its numbers never get into a result.
TEST(RunHistory, RefusesDamagedLines) {
  const auto complaint = [](const std::string& line) -> std::string {
    try {
      history_of({start(1), line});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  const auto with_seconds = [](const char* seconds) {
    return std::string(R"({"event":"sample","time":"t","cell":"0000000000000001","attempt":1,"index":0,"phases":[)") +
           R"({"name":"alloc","seconds":)" + seconds + R"(,"operations":1}]})";
  };
  EXPECT_EQ(complaint(with_seconds("0.5")), "");
  for (const char* seconds : {"-1", "1e308", "1e400", "null", "\"fast\"", "NaN"}) {
    EXPECT_THAT(complaint(with_seconds(seconds)), ::testing::StartsWith("events.jsonl:5: not a valid event: "))
        << seconds;
  }
  for (const char* line : {"", "null", "[]", "{}", R"({"event":1})", R"({"event":"cell","id":"x"})",
                           R"({"event":"end","cell":"0000000000000001","attempt":1,"status":"fine"})",
                           R"({"event":"end","cell":"0000000000000001","attempt":1,"status":"ok"})"}) {
    EXPECT_THAT(complaint(line), ::testing::StartsWith("events.jsonl:5: ")) << line;
  }
  EXPECT_THAT(complaint(std::string(100'000, '[')), ::testing::HasSubstr("64 levels"));
}

TEST(RunHistory, PlannedCellsThatWereNeverReachedAreUnfinished) {
  auto run = nlohmann::ordered_json::parse(one_cell[0]);
  run["planned"] = {"0000000000000001", "0000000000000002", "0000000000000003"};
  EXPECT_EQ(history_of({run.dump(), start(1), end(1, "oom")}).unfinished(), 2u);
  EXPECT_EQ(history_of({start(1), end(1, "oom")}).unfinished(), 0u);  // a log without a list of planned cells
}

TEST_F(EventLogTest, NoticesThatItsFileIsGone) {
  EventLog log(path_);
  log.append({{"event", "start"}});
  std::filesystem::remove(path_);
  EXPECT_THROW(log.append({{"event", "start"}}), LogLost);
  write("");  // another file of the same name is not the log, either
  EXPECT_THROW(log.append({{"event", "start"}}), LogLost);
}

TEST(OutputFolder, KnowsWhatMayDifferOnResume) {
  EXPECT_TRUE(
      differing_keys({{"name", "a"}, {"plot", 1}, {"deadline_s", 2}}, {{"deadline_s", 3}, {"name", "a"}}).empty());
  EXPECT_THAT(differing_keys({{"name", "a"}, {"seed", 1}}, {{"name", "a"}, {"seed", 2}, {"rounds", 3}}),
              ::testing::ElementsAre("rounds", "seed"));
}

}  // namespace
}  // namespace allocbench::front
