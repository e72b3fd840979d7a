#include "harness/front/statistics/statistics.hpp"

#include <gtest/gtest.h>

namespace allocbench::front {
namespace {

TEST(Statistics, LiteralNumbers) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({5, 1, 9}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(mean({1, 2, 6}), 3);
  EXPECT_EQ(standard_deviation({5}), 0);
  EXPECT_DOUBLE_EQ(standard_deviation({2, 4, 4, 4, 5, 5, 7, 9}), 2.138089935299395);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.25), 1.75);  // value of numpy.quantile
  EXPECT_EQ(quantile({1, 2, 3, 4}, 1), 4);
}

}  // namespace
}  // namespace allocbench::front
