// These tests check which repetitions of a cell are samples.
#include "harness/worker/warm_ups.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace allocbench::worker {
namespace {

class WarmUpsTest : public ::testing::Test {
 protected:
  // Returns the times of `count` samples if the repetitions take `times`, one after the other.
  std::vector<double> samples(WarmUps warm_ups, std::vector<double> times, std::size_t count) {
    names.clear();
    const auto repeat = [&](std::string_view name, double least) {
      Sample result;
      result.seconds = times.at(names.size());
      names.emplace_back(name);
      EXPECT_TRUE(name == "warm-up" || least == 0) << "samples are always looked at";
      return result;
    };
    std::vector<double> result;
    while (result.size() < count) result.push_back(warm_ups.sample(repeat).seconds);
    return result;
  }

  std::vector<std::string> names;
};

TEST_F(WarmUpsTest, ComeBeforeTheFirstSampleOnly) {
  EXPECT_EQ(samples(WarmUps(2, 1), {0.1, 0.2, 0.3, 0.4}, 2), (std::vector{0.3, 0.4}));
  EXPECT_EQ(names, (std::vector<std::string>{"warm-up", "warm-up", "sample", "sample"}));
}

TEST_F(WarmUpsTest, ThatAreLongAreSamples) {
  EXPECT_EQ(samples(WarmUps(2, 1), {1, 0.2}, 2), (std::vector{1, 0.2}));
  EXPECT_EQ(names, (std::vector<std::string>{"warm-up", "sample"}));
  EXPECT_EQ(samples(WarmUps(2, 1), {0.5, 1.5, 0.2}, 2), (std::vector{1.5, 0.2}));
}

TEST_F(WarmUpsTest, AreNeverSamplesWhereTheyChangeTheHeap) {
  EXPECT_EQ(samples(WarmUps(1, WarmUps::never), {1e6, 0.2}, 1), (std::vector{0.2}));
}

}  // namespace
}  // namespace allocbench::worker
