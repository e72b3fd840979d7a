#include "protocol/model_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "check/library.hpp"

namespace allocbench::check {
namespace {

using nlohmann::ordered_json;
using protocol::read_model;

std::vector<std::string> problems_of(const char* text) {
  Model model;
  return read_model(ordered_json::parse(text), model);
}

TEST(ModelJson, EveryBuiltInModelSurvivesTheRoundTrip) {
  for (const Model& model : model_library()) {
    Model again;
    EXPECT_THAT(read_model(to_json(model), again), ::testing::IsEmpty()) << model.name;
    EXPECT_EQ(to_json(again), to_json(model)) << model.name;
    EXPECT_EQ(find_model(model.name), &model);
  }
}

TEST(ModelJson, DefaultsAreAWarpAndOneRequestOf16Bytes) {
  Model model;
  EXPECT_THAT(read_model(ordered_json::parse(R"({"name": "m", "steps": [{"do": "malloc"}]})"), model),
              ::testing::IsEmpty());
  EXPECT_EQ(model.lanes(), 32u);
  EXPECT_EQ(model.sizes.front().bytes, 16u);
  EXPECT_EQ(model.slots(), 1u);
  EXPECT_FALSE(model.null_is_failure);
}

TEST(ModelJson, SizesHave64Bits) {
  Model model;
  const auto json =
      ordered_json::parse(R"({"name": "m", "sizes": [18446744073709551615], "steps": [{"do": "malloc"}]})");
  EXPECT_THAT(read_model(json, model), ::testing::IsEmpty());
  EXPECT_EQ(model.sizes.front().bytes, ~std::uint64_t{0});
  EXPECT_TRUE(model.asks_too_much());
}

TEST(ModelJson, CountsTheRequestsOfALaunch) {
  EXPECT_EQ(find_model("crowded_warp")->requests_per_launch(), 32u * 2 * 13);
  EXPECT_EQ(find_model("launches")->requests_per_launch(), 40u * 2) << "of three launches";
  EXPECT_EQ(find_model("free_null")->requests_per_launch(), 4u * 4) << "frees do not count";
}

TEST(ModelJson, AllMistakesAtOnceWithTheirPlaces) {
  EXPECT_THAT(problems_of(R"({"name": 3, "rouns": 2, "blocks": -1, "sizes": ["pool/x"],
                              "steps": [{"do": "mallok"}, {"do": "free", "slot": "a"}], "null": "maybe"})"),
              ::testing::ElementsAre(
                  "/rouns: unknown key; allowed: name, description, kernels, blocks, threads_per_block, "
                  "rounds, launches, "
                  "sizes, null, reset, refill, heap, steps",
                  "/name: found 3; allowed: a text", "/blocks: found -1; allowed: a count",
                  "/null: found \"maybe\"; allowed: \"allowed\" or \"failure\"",
                  "/sizes/0: found \"pool/x\"; allowed: bytes, or a share of the pool as \"pool/4\"",
                  "/steps/0/do: found \"mallok\"; allowed: \"malloc\", \"free\", \"free_null\" or \"barrier\"",
                  "/steps/1/slot: found \"a\"; allowed: a count"));
}

TEST(ModelJson, TooManySizesOrSteps) {
  std::string sizes = "16", steps = R"({"do": "malloc"})";
  for (int i = 0; i < 256; ++i) {
    sizes += ", 16";
    steps += R"(, {"do": "malloc"})";
  }
  EXPECT_THAT(problems_of((R"({"name": "m", "steps": [{"do": "malloc"}], "sizes": [)" + sizes + "]}").c_str()),
              ::testing::ElementsAre("sizes: at most 256"));
  EXPECT_THAT(problems_of((R"({"name": "m", "steps": [)" + steps + "]}").c_str()),
              ::testing::ElementsAre("steps: at most 256"));
}

TEST(ModelJson, RulesBeyondTypes) {
  EXPECT_THAT(problems_of(R"({"name": "m", "steps": []})"), ::testing::ElementsAre("steps: at least one"));
  EXPECT_THAT(problems_of(R"({"name": "m", "steps": [{"do": "free", "from": 32}]})"),
              ::testing::ElementsAre("from: must be a lane of the model"));
  EXPECT_THAT(problems_of(R"({"name": "m", "reset": true, "refill": true, "steps": [{"do": "malloc"}]})"),
              ::testing::ElementsAre("reset, refill: at most one of them"));
  EXPECT_THAT(problems_of(R"({"name": "m", "reset": 1, "steps": [{"do": "malloc"}]})"),
              ::testing::ElementsAre("/reset: found 1; allowed: true or false"));
  EXPECT_THAT(problems_of(R"({"name": "m", "steps": [{"do": "malloc", "size": 1}]})"),
              ::testing::ElementsAre("size: must be an index of `sizes`"));
  EXPECT_THAT(problems_of(R"({"name": "m", "steps": [{"do": "barrier", "lanes": {"every": 2}}]})"),
              ::testing::ElementsAre("barrier: all lanes must take part"));
  EXPECT_THAT(problems_of(R"({"name": "m", "heap": "third", "steps": [{"do": "malloc", "fill": 2}]})"),
              ::testing::ElementsAre("/heap: found \"third\"; allowed: \"first\", \"second\" or \"many_units\"",
                                     "/steps/0/fill: found 2; allowed: true or false"));
  EXPECT_THAT(problems_of(R"({"name": "m", "null": "failure", "steps": [{"do": "malloc", "fill": true}]})"),
              ::testing::ElementsAre("fill, null: the model must allow null pointers"));
}

}  // namespace
}  // namespace allocbench::check
