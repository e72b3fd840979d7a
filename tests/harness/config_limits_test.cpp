// These tests check the limits of depth, keys, numbers, texts and lists in a config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/front/config/scalars.hpp"
#include "harness/front/plan/plan.hpp"
#include "protocol/bounds.hpp"
#include "tests/harness/config_cases.hpp"

namespace allocbench::front {
namespace {

using testing::complaints;
using testing::good;
using testing::one_complaint;
using testing::ordered_json;
using testing::read_good;
using testing::with;

TEST(ConfigLimits, DepthKeysNumbersAndTexts) {
  const auto complaint = [](const std::string& text) {
    Problems problems;
    read_config(text, "test.json", {testing::test_catalogue()}, {}, problems);
    return format_problems("test.json", problems);
  };
  EXPECT_THAT(complaint(std::string(70'000, '[')), ::testing::HasSubstr("at most 64 levels"));
  EXPECT_THAT(complaint(good.dump() + std::string("\0{", 2)), ::testing::HasSubstr("a NUL byte at byte"));
  std::string keys = "{\"workload\": {\"a0\": 1";
  for (int i = 1; i <= 1000; ++i) keys += ", \"a" + std::to_string(i) + "\": 1";
  EXPECT_EQ(complaint(keys + "}}"), one_complaint("  /workload\n      found:   an object with more than 1000 keys\n"
                                                  "      allowed: at most 1000 keys\n"));
  EXPECT_EQ(complaint("{\n  \"seed\": 1e400\n}"), one_complaint("  line 2, column 11\n      found:   the number 1e400\n"
                                                                "      allowed: numbers from -1.8e308 to 1.8e308\n"));
  EXPECT_THAT(complaints(with("name", std::string(100'000, 'a'))), ::testing::HasSubstr("length at most 200"));
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

// The maximum of `deadline_s` equals the longest time that the protocol allows.
TEST(ConfigLimits, TheSchemaAndTheProtocolAgreeAboutSeconds) {
  EXPECT_EQ(find_entry(config_scalars(), "deadline_s")->maximum, protocol::longest_seconds);
}

TEST(ConfigLimits, CellsAreCountedBeforeTheyAreMade) {
  ordered_json json = good;
  json["sweep"] = {{"request_bytes", {{"range", {1, 1000, 1}}}}, {"blocks", {{"range", {1, 1000, 1}}}}};
  Problems problems;
  make_plan(read_good(json), testing::test_catalogue(), problems);
  EXPECT_EQ(format_problems("test.json", problems),
            one_complaint("  /sweep\n      found:   1000000 cells\n      allowed: at most 100000 cells (cells that "
                          "`exclude` removes count too)\n"));
}

TEST(ConfigLimits, ManyMistakesAreCounted) {
  const std::string text = complaints(with("sweep", {{"blocks", std::vector<int>(5000, 0)}}));
  EXPECT_THAT(text, ::testing::StartsWith("test.json: "));
  EXPECT_THAT(text, ::testing::HasSubstr("  and "));
  EXPECT_LT(text.size(), 50'000u);
}

}  // namespace
}  // namespace allocbench::front
