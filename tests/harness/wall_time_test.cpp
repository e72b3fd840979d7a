// These tests check the output of --profile for a worker that waited while another one measured.
#include "harness/front/workers/wall_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allocbench::front {
namespace {

using ::testing::HasSubstr;

TEST(WallTime, PartsAddUpToTheTimeOfTheRun) {
  WallTime wall_time;
  wall_time.add("process ends", 1);
  // The worker explains one second of its start, which took 1.5 s.
  EXPECT_EQ(wall_time.add({.seconds = {{"start", 1}, {"kernels", 2}}, .beside = 5}, 1.5), 3.5);
  const std::string text = wall_time.text(10);
  for (const char* part : {"   55.0 %       5.5 s  front end\n", "   20.0 %       2.0 s  kernels\n",
                           "   10.0 %       1.0 s  plug-ins and device\n", "   10.0 %       1.0 s  process ends\n",
                           "    5.0 %       0.5 s  process starts\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(WallTime, WhatPassedBesideIsNoPart) {
  WallTime wall_time;
  EXPECT_THAT(wall_time.text(10), Not(HasSubstr("of process starts")));
  wall_time.add({.seconds = {{"start", 1}}, .beside = 5}, 1);
  wall_time.add({.seconds = {{"start", 1}}, .beside = 2.5}, 1);
  EXPECT_THAT(wall_time.text(10), HasSubstr("   80.0 %       8.0 s  front end\n"));
  EXPECT_THAT(wall_time.text(10),
              HasSubstr("       7.5 s  of process starts ran while another worker started or ended\n"));
}

}  // namespace
}  // namespace allocbench::front
