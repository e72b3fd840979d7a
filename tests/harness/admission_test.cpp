// Which expensive cells begin next.
#include "harness/front/run/admission.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace allocbench::front {
namespace {

using Places = std::vector<std::size_t>;

constexpr double unknown = std::numeric_limits<double>::infinity();

TEST(Admission, AsManyBeginAsHaveTimeForTheirRounds) {
  const std::vector<ExpensiveCell> waiting = {{3}, {1}, {2}};
  EXPECT_EQ(admit(waiting, 100), (Places{1, 2, 0})) << "the cheapest first";
  EXPECT_EQ(admit(waiting, 12), (Places{1, 2, 0})) << "three rounds take twice the first one";
  EXPECT_EQ(admit(waiting, 11.9), (Places{1, 2}));
  EXPECT_EQ(admit(waiting, 2), (Places{1}));
}

TEST(Admission, AllBeginWhereNoneHasTheTime) {
  EXPECT_EQ(admit({{3}, {1}}, 1.9), (Places{1, 0}));
  EXPECT_EQ(admit({{3}, {1}}, 0), (Places{1, 0}));
  EXPECT_EQ(admit({{unknown}, {unknown}}, 1000), (Places{0, 1}));
  EXPECT_EQ(admit({}, 10), Places{});
}

TEST(Admission, WhatHasNoTimeHoldsUpNobody) {
  EXPECT_EQ(admit({{unknown}, {50}}, 1000), (Places{1}));
  EXPECT_EQ(admit({{.seconds = unknown, .is_first_of_figure = true}, {3}, {2}}, 9), (Places{2}));
  EXPECT_EQ(admit({{.seconds = 5}, {.seconds = 1, .is_reworked = true}}, 9), (Places{1}));
}

TEST(Admission, ReworkedFormsComeBehindAndFiguresWithoutNumbersBefore) {
  const std::vector<ExpensiveCell> waiting = {{.seconds = 1, .is_reworked = true},
                                              {.seconds = 2},
                                              {.seconds = 4, .is_reworked = true, .is_first_of_figure = true},
                                              {.seconds = 3, .is_first_of_figure = true}};
  EXPECT_EQ(admit(waiting, 100), (Places{3, 2, 1, 0}));
  EXPECT_EQ(admit(waiting, 18), (Places{3, 2, 1}));
  EXPECT_EQ(admit(waiting, 14), (Places{3, 2}));
}

}  // namespace
}  // namespace allocbench::front
