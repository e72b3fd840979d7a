// These tests check which stages of a repetition a worker reports.
#include "workloads/support/contract/stages.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace allocbench {
namespace {

std::vector<std::string> told(const std::vector<Stage>& begun) {
  std::vector<std::string> words;
  Stages stages([&](Stage stage) { words.emplace_back(word(stage)); });
  for (const Stage stage : begun) stages.begin(stage);
  return words;
}

TEST(Stages, ASecondPhaseIsNoNewStage) {
  EXPECT_EQ(told({Stage::prepare, Stage::timed, Stage::timed, Stage::judge}),
            (std::vector<std::string>{"prepare", "timed", "judge"}));
}

TEST(Stages, APhaseAfterAFillIs) {
  EXPECT_EQ(told({Stage::prepare, Stage::fill, Stage::fill, Stage::timed, Stage::fill, Stage::timed, Stage::drain}),
            (std::vector<std::string>{"prepare", "fill", "timed", "fill", "timed", "drain"}));
}

TEST(Stages, NobodyNeedListen) { Stages(StageListener()).begin(Stage::fill); }

}  // namespace
}  // namespace allocbench
