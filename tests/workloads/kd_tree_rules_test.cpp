// These tests check the rules of the kd-tree build on hand-made inputs, and compare the reference tree with the
// published statistics.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "workloads/kd_tree/tree_check.hpp"
#include "workloads/support/inputs/data_files.hpp"

namespace allocbench::kd_tree {
namespace {

TEST(SplitRules, PlanesLieAtTwelfthsOfEachAxis) {
  EXPECT_EQ(axis_of(0), 0u);
  EXPECT_EQ(axis_of(10), 0u);
  EXPECT_EQ(axis_of(11), 1u);
  EXPECT_EQ(axis_of(21), 1u);
  EXPECT_EQ(axis_of(22), 2u);
  EXPECT_EQ(axis_of(31), 2u);
  EXPECT_EQ(position_of(0, 0, 0, 12), 1.0f);
  EXPECT_EQ(position_of(10, 0, 0, 12), 11.0f);
  EXPECT_EQ(position_of(11, 1, -6, 6), -5.0f);
  EXPECT_EQ(position_of(31, 2, 0, 12), 10.0f) << "the last axis has ten planes";
}

// The product is rounded before the sum. With only one rounding, 1 + 0.1f * 3 / 12 is another number.
TEST(SplitRules, RoundEveryOperation) {
  const float width = 1.1f - 1.0f;
  const float product = width * 3;
  const float quotient = product / 12;
  EXPECT_EQ(position_of(2, 0, 1.0f, 1.1f), 1.0f + quotient);
}

TEST(SplitRules, WeighAreasWithReferences) {
  const Box box{{0, 0, 0}, {2, 3, 5}};
  EXPECT_EQ(half_area(box), 6 + 15 + 10);
  // The cut at x = 0.5 gives parts of 0.5 x 3 x 5 and 1.5 x 3 x 5.
  EXPECT_EQ(weighted_areas(box, 0, 0.5f, 10, 100), (1.5f + 15 + 2.5f) * 10 + (4.5f + 15 + 7.5f) * 100);
  // The cut at z = 1 gives parts of 2 x 3 x 1 and 2 x 3 x 4.
  EXPECT_EQ(weighted_areas(box, 2, 1, 1, 0), 6 + 3 + 2);
  EXPECT_EQ(weighted_areas(box, 2, 1, 0, 1), 6 + 12 + 8);
}

TEST(SplitRules, FailWhereLittleIsSaved) {
  const Box box{{0, 0, 0}, {1, 1, 1}};  // half of its area is 3
  // The cost is 1 + weighted / 3. A leaf costs 100.
  EXPECT_FALSE(split_fails(box, 3 * 88.0f, 100));
  EXPECT_TRUE(split_fails(box, 3 * 89.5f, 100));
  EXPECT_TRUE(split_fails(box, 0, 1)) << "the traversal alone costs as much as the leaf";
  EXPECT_FALSE(split_fails(Box{{0, 0, 0}, {0, 0, 0}}, 0, 10)) << "a point has no area: no comparison holds";
}

TEST(Limits, FollowFromTheNumberOfTriangles) {
  // These are the limits of the published scenes, by the formulas of the authors' framework.
  for (const auto [triangles, depth, failed] : {std::array{20'000u, 19u, 5u},
                                                {80'479u, 21u, 6u},
                                                {224'998u, 23u, 6u},
                                                {331'179u, 24u, 7u},
                                                {1'600'000u, 26u, 7u}}) {
    const Limits limits = Limits::of(triangles, 0, 0);
    EXPECT_EQ(limits.depth, depth) << triangles;
    EXPECT_EQ(limits.failed_splits, failed) << triangles;
  }
  EXPECT_EQ(Limits::of(345'944, 23, 0).failed_splits, 6u) << "by the depth that was given";
  EXPECT_EQ(Limits::of(345'944, 23, 9).failed_splits, 9u);
  const Limits limits{10, 3};
  EXPECT_FALSE(limits.children_are_leaves(8));
  EXPECT_TRUE(limits.children_are_leaves(9));
}

TEST(RequestStatistics, HaveATrueAndAWrappedDeviation) {
  RequestStatistics statistics;
  for (const std::uint64_t size : {4u, 8u, 12u}) statistics.add(size);
  EXPECT_EQ(statistics.mean(), 8);
  EXPECT_DOUBLE_EQ(statistics.deviation(), std::sqrt(32.0 / 3));
  EXPECT_DOUBLE_EQ(statistics.wrapped_deviation(), statistics.deviation());
  statistics.add(65'536);  // its square is 2^32, which wraps to 0
  EXPECT_EQ(statistics.squares, (std::uint64_t{1} << 32) + 224);
  EXPECT_EQ(statistics.wrapped_squares, 224u);
  EXPECT_EQ(RequestStatistics{}.deviation(), 0);
}

struct Recorder final : TreeVisitor {
  std::vector<std::string> nodes;
  void inner(std::uint64_t path, std::uint32_t plane, float position) override {
    nodes.push_back(std::to_string(path) + " plane " + std::to_string(plane) + " at " + std::to_string(position));
  }
  void leaf(std::uint64_t path, const std::uint32_t* references, std::uint32_t count) override {
    std::string text = std::to_string(path) + " leaf";
    for (std::uint32_t i = 0; i < count; ++i) text.append(" ").append(std::to_string(references[i]));
    nodes.push_back(text);
  }
};

TriangleBox box_at(float x, float width) { return {{x, 0, 0}, 0, {x + width, 1, 1}, 0}; }

// Eight unit boxes lie in a row along x, four at each end of a room of 24.
TEST(ReferenceTree, SplitsWhereItShould) {
  std::vector<TriangleBox> boxes;
  for (const float x : {0.f, 0.1f, 0.2f, 0.3f, 22.7f, 22.8f, 22.9f, 23.f}) boxes.push_back(box_at(x, 1));
  Recorder recorder;
  const ReferenceTree tree = build_reference(boxes, Limits{3, 9}, &recorder);
  // The first plane, at 2, separates the left four boxes. The right side, which is 22 wide, is then cut at 11/12 of its
  // width.
  ASSERT_FALSE(recorder.nodes.empty());
  EXPECT_EQ(recorder.nodes[0], "1 plane 0 at 2.000000");
  EXPECT_EQ(tree.leaves, tree.digest.inner + 1);
  EXPECT_EQ(tree.requests.mallocs, 2 * (tree.digest.inner - tree.empty_leaves));
  EXPECT_EQ(tree.largest_request, 16u);
}

TEST(ReferenceTree, PassesListsOnWhereOneSideIsEmpty) {
  std::vector<TriangleBox> boxes(8, box_at(23, 1));
  boxes.push_back(box_at(0, 24));  // this box is as large as the room and lies on both sides of every plane
  const ReferenceTree with_both = build_reference(boxes, Limits{2, 9});
  EXPECT_EQ(with_both.passed_on, 0u);
  boxes.pop_back();
  boxes.push_back({{0, 0, 0}, 0, {1, 1, 1}, 0});
  const ReferenceTree tree = build_reference(boxes, Limits{4, 99});
  EXPECT_GT(tree.passed_on, 0u);
  EXPECT_EQ(tree.passed_on, tree.empty_leaves);
}

// A failing split adds 2 to the count. With a limit of 1 the root passes the first test, and the second test makes it a
// leaf, after the requests for both lists.
TEST(ReferenceTree, TestsFailedSplitsTwice) {
  std::vector<TriangleBox> boxes(10, box_at(0, 1));  // the boxes are equal, so no plane saves anything
  const ReferenceTree none = build_reference(boxes, Limits{9, 1});
  EXPECT_EQ(none.leaves, 1u);
  EXPECT_EQ(none.requests.mallocs, 2u);
  EXPECT_EQ(none.requests.bytes, 80u);
  const ReferenceTree two = build_reference(boxes, Limits{9, 2});
  EXPECT_EQ(two.leaves, 2u) << "the root splits, its children fail at the first test";
}

TEST(ReferenceTree, IsTheSameWithAndWithoutHelpers) {
  const std::vector<TriangleBox> boxes = boxes_of(generate_soup(20'000, 2));
  const Limits limits = Limits::of(20'000, 0, 0);
  Recorder visitor;  // with a visitor the build uses one thread
  const ReferenceTree alone = build_reference(boxes, limits, &visitor);
  const ReferenceTree helped = build_reference(boxes, limits);
  EXPECT_EQ(alone.digest, helped.digest);
  EXPECT_EQ(alone.requests, helped.requests);
  EXPECT_EQ(alone.by_size, helped.by_size);
  EXPECT_EQ(visitor.nodes.size(), alone.nodes());
}

// Published has the statistics of a scene, from an independent model of the published build. If areas are rounded in
// another order, the counts change a little, so the test has tolerances.
struct Published {
  const char* scene;
  std::uint32_t subdivisions;
  std::uint32_t triangles;
  double references;
  double mallocs;
  double mean;
  double deviation;
  double wrapped;
};

void PrintTo(const Published& published, std::ostream* out) {
  *out << published.scene << ", subdivided " << published.subdivisions;
}

class PublishedStatistics : public testing::TestWithParam<Published> {};

TEST_P(PublishedStatistics, AreReproduced) {
  const Published& expected = GetParam();
  const std::string file = std::string("scenes/") + expected.scene + ".ply.gz";
  if (!has_data_file(file)) GTEST_SKIP() << "no " << file << ": data/README.md says where to get it";
  const auto scene = prepared_scene({.scene = expected.scene, .subdivisions = expected.subdivisions});
  const ReferenceTree& tree = scene->reference;
  ASSERT_EQ(scene->boxes.size(), expected.triangles);
  const double references = static_cast<double>(tree.references) / expected.triangles;
  EXPECT_NEAR(references, expected.references, 0.005 + 0.002 * expected.references);
  EXPECT_NEAR(static_cast<double>(tree.requests.mallocs), expected.mallocs, 0.002 * expected.mallocs);
  EXPECT_NEAR(tree.requests.mean(), expected.mean, 0.05 + 0.002 * expected.mean);
  EXPECT_NEAR(tree.requests.deviation(), expected.deviation, 0.05 + 0.002 * expected.deviation);
  EXPECT_NEAR(tree.requests.wrapped_deviation(), expected.wrapped, 0.05 + 0.002 * expected.wrapped);
  EXPECT_EQ(tree.leaves, tree.digest.inner + 1);
}

INSTANTIATE_TEST_SUITE_P(Scenes, PublishedStatistics,
                         testing::Values(Published{"lost_empire", 0, 224'998, 11.78, 1'196'734, 40.6, 851.1, 353.7},
                                         Published{"sibenik_original", 0, 80'479, 4.70, 100'652, 100.8, 1540.6, 733.8},
                                         Published{"crane_20k", 0, 20'000, 6.33, 68'356, 45.1, 329.2, 329.2},
                                         Published{"sponza", 0, 66'450, 6.94, 135'684, 74.4, 772.8, 529.8},
                                         Published{"sibenik", 0, 75'284, 7.50, 193'446, 62.2, 745.4, 471.7},
                                         Published{"bunny", 0, 69'451, 7.57, 250'408, 44.4, 583.2, 366.5},
                                         Published{"dragon_100k", 0, 100'000, 6.41, 271'908, 55.1, 850.7, 467.1},
                                         Published{"sports_car", 0, 300'603, 9.95, 925'702, 65.1, 1315.5, 491.2},
                                         Published{"conference", 0, 331'179, 3.98, 235'618, 188.9, 5020.5, 1190.3},
                                         Published{"armadillo", 0, 345'944, 7.83, 1'582'536, 40.5, 1149.9, 383.6},
                                         Published{"bunny", 2, 1'111'216, 7.67, 4'906'160, 43.5, 2068.9, 383.0},
                                         Published{"dragon_scans", 0, 1'417'753, 17.08, 6'948'918, 75.2, 2299.1,
                                                   395.0}));

// For this scene, the paper states 101K requests with mean 100.8 and deviation 734.7. Other models are not available.
TEST(PublishedStatistics, OfSibenikAreThoseOfThePaper) {
  if (!has_data_file("scenes/sibenik_original.ply.gz")) GTEST_SKIP() << "no scenes/sibenik_original.ply.gz";
  const RequestStatistics& requests = prepared_scene({.scene = "sibenik_original"})->reference.requests;
  EXPECT_NEAR(static_cast<double>(requests.mallocs), 100'600, 503);
  EXPECT_NEAR(requests.mean(), 100.8, 0.1);
  EXPECT_NEAR(requests.wrapped_deviation(), 734, 2);
}

// --- the message of a wrong tree

struct BuiltByHost final : TreeVisitor {
  BuiltTree tree;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places{{root_path, 0}};  // path and index of nodes to come
  std::uint32_t pairs = 1;

  BuiltByHost() { tree.nodes.assign(2, Node{0xffffffffu, 0xffffffffu}); }
  std::uint32_t place(std::uint64_t path) const {
    for (const auto& [each, index] : places) {
      if (each == path) return index;
    }
    throw std::logic_error("a child before its parent");
  }
  void inner(std::uint64_t path, std::uint32_t plane, float position) override {
    tree.nodes[place(path)] = Node::of(plane, pairs, std::bit_cast<std::uint32_t>(position));
    tree.nodes.resize(tree.nodes.size() + 2, Node{0xffffffffu, 0xffffffffu});
    for (std::uint32_t side = 0; side < 2; ++side) places.emplace_back(child_path(path, side), 2 * pairs + side);
    ++pairs;
  }
  void leaf(std::uint64_t path, const std::uint32_t* references, std::uint32_t count) override {
    tree.nodes[place(path)] = Node::of(Node::leaf, static_cast<std::uint32_t>(tree.references.size()), count);
    tree.references.insert(tree.references.end(), references, references + count);
  }
};

class TreeProblem : public testing::Test {
 protected:
  TreeProblem() : scene_(prepared_scene({.scene = "spheres", .triangles = 300, .seed = 1})) {
    BuiltByHost build;
    build_reference(scene_->boxes, scene_->reference.limits, &build);
    built_ = build.tree;
  }
  std::size_t first_leaf() const {
    std::size_t node = 0;
    while (built_.nodes[node].plane() != Node::leaf) node = std::size_t{2} * built_.nodes[node].first();
    return node;
  }
  std::string problem() const { return tree_problem(built_, *scene_); }

  std::shared_ptr<const PreparedScene> scene_;
  BuiltTree built_;
};

TEST_F(TreeProblem, IsNoneForTheTree) { EXPECT_EQ(problem(), ""); }

TEST_F(TreeProblem, NamesAWrongPlane) {
  const std::uint32_t plane = built_.nodes[0].plane();
  built_.nodes[0] = Node::of(plane == 0 ? 1 : 0, built_.nodes[0].first(), built_.nodes[0].value);
  EXPECT_NE(problem().find("node root is split at plane"), std::string::npos) << problem();
}

TEST_F(TreeProblem, NamesALeafThatShouldNotBe) {
  built_.nodes[0] = Node::of(Node::leaf, 0, 0);
  EXPECT_NE(problem().find("node root is a leaf and should be split"), std::string::npos) << problem();
}

TEST_F(TreeProblem, NamesAMissingNode) {
  built_.nodes[first_leaf()] = Node{0xffffffffu, 0};
  EXPECT_NE(problem().find(" was not written"), std::string::npos) << problem();
}

TEST_F(TreeProblem, NamesAWrongReference) {
  built_.references[0] = 4711;
  EXPECT_NE(problem().find(" refers to triangle "), std::string::npos) << problem();
  Node& leaf = built_.nodes[first_leaf()];
  leaf.value += 1;
  EXPECT_NE(problem().find(" references and should have "), std::string::npos) << problem();
}

}  // namespace
}  // namespace allocbench::kd_tree
