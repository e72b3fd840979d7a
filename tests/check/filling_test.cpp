#include "check/filling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allocbench::check {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;

Model model_of(std::vector<Step> steps, std::vector<Size> sizes = {{16}}) {
  Model model;
  model.name = "m";
  model.threads_per_block = 8;
  model.sizes = std::move(sizes);
  model.steps = std::move(steps);
  return model;
}

std::vector<std::uint32_t> slots_of(const Model& model) {
  std::vector<std::uint32_t> slots;
  for (const Step& step : model.steps) slots.push_back(step.slot);
  return slots;
}

TEST(Filling, LanesTogetherAskForAQuarterMoreThanTheHeapHas) {
  const Model model = model_of({{.slot = 0, .fills = true}, {.action = Action::free, .slot = 0, .fills = true}});
  // The 8 lanes request at least 20 + 5 + 1 blocks, so each lane requests 4.
  const Model full = filled(model, {20});
  EXPECT_THAT(slots_of(full), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_EQ(full.requests_per_launch(), 8u * 4);
  EXPECT_FALSE(full.fills());
}

TEST(Filling, OtherStepsMoveBehindTheSlotsThatAreFilled) {
  const Model model =
      model_of({{.slot = 1, .fills = true}, {.slot = 0}, {.slot = 2}, {.action = Action::free, .slot = 2, .from = 3}});
  EXPECT_THAT(slots_of(filled(model, {12})), ElementsAre(1, 2, 0, 3, 3));
}

TEST(Filling, FewerLanesAskForMoreEach) {
  const Model model = model_of({{.slot = 0, .lanes = {4, 1}, .fills = true}});
  EXPECT_THAT(filled(model, {7}).steps, SizeIs(5)) << "9 blocks for the lanes 1 and 5";
}

TEST(Filling, TheSmallestSizeOnASlotDecides) {
  const Model model =
      model_of({{.slot = 0, .size = 1, .fills = true}, {.slot = 0, .size = 0, .fills = true}}, {{16}, {256}});
  EXPECT_THAT(filled(model, {31, 4}).steps, SizeIs(10)) << "39 blocks of 16 bytes for 8 lanes";
}

TEST(Filling, SizesThatSpreadDifferFromSlotToSlot) {
  const Model model = model_of({{.slot = 0, .spread = true, .fills = true}}, {{16}, {48}, {96}});
  // Three blocks, one of each size, take 1/6 of the heap. So 8 lanes request at least 18 + 4 + 1 blocks, 3 blocks each.
  EXPECT_THAT(filled(model, {60, 20, 10}).steps,
              ElementsAre(Field(&Step::size, 0u), Field(&Step::size, 1u), Field(&Step::size, 2u)));
}

TEST(Filling, AHeapOfUnknownSizeGetsARequestOfEachLaneAndALargeOneABoundedNumber) {
  const Model model = model_of({{.slot = 0, .fills = true}});
  EXPECT_THAT(filled(model, {0}).steps, SizeIs(1));
  EXPECT_THAT(filled(model, {4096}).steps, SizeIs(64));
}

TEST(Filling, AModelThatDoesNotFillStaysAsItIs) {
  const Model model = model_of({{.slot = 5}});
  EXPECT_THAT(slots_of(filled(model, {100})), ElementsAre(5));
}

}  // namespace
}  // namespace allocbench::check
