#include "workloads/kd_tree/tree_check.hpp"

#include <algorithm>
#include <bit>

namespace allocbench::kd_tree {
namespace {

class Comparison final : public TreeVisitor {
 public:
  explicit Comparison(const BuiltTree& built) : built_(built) {}

  void inner(std::uint64_t path, std::uint32_t plane, float position) override {
    const Node* const node = find(path);
    if (node == nullptr) return;
    if (node->plane() == Node::leaf) return report(path, "is a leaf and should be split at plane " + text(plane));
    if (node->plane() != plane || node->value != std::bit_cast<std::uint32_t>(position)) {
      report(path, "is split at plane " + text(node->plane()) + " and should be at " + text(plane));
    }
  }

  void leaf(std::uint64_t path, const std::uint32_t* references, std::uint32_t count) override {
    const Node* const node = find(path);
    if (node == nullptr) return;
    if (node->plane() != Node::leaf) return report(path, "is split and should be a leaf");
    if (node->value != count) {
      return report(path, "has " + text(node->value) + " references and should have " + text(count));
    }
    if (std::size_t{node->first()} + count > built_.references.size()) {
      return report(path, "has references beyond the end of the array");
    }
    std::vector<std::uint32_t> found(built_.references.begin() + node->first(),
                                     built_.references.begin() + node->first() + count);
    std::vector<std::uint32_t> expected(references, references + count);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    const auto [here, there] = std::mismatch(found.begin(), found.end(), expected.begin());
    if (here != found.end()) {
      report(path, "refers to triangle " + text(*here) + " where " + text(*there) + " belongs");
    }
  }

  const std::string& problem() const { return problem_; }

 private:
  static std::string text(std::uint32_t number) { return std::to_string(number); }

  // Returns null if an earlier mistake was found, or if there is one above this node.
  const Node* find(std::uint64_t path) {
    if (!problem_.empty()) return nullptr;
    std::size_t index = 0;
    for (int level = static_cast<int>(std::bit_width(path)) - 2; level >= 0; --level) {
      const Node& node = built_.nodes[index];
      index = std::size_t{node.first()} * 2 + (path >> level & 1);
      if (node.plane() >= Node::leaf || index >= built_.nodes.size()) {
        report(path, "has no place in the tree");
        return nullptr;
      }
    }
    if (built_.nodes[index].plane() <= Node::leaf) return &built_.nodes[index];
    report(path, "was not written");
    return nullptr;
  }

  void report(std::uint64_t path, const std::string& what) {
    std::string name = "root";
    for (int level = static_cast<int>(std::bit_width(path)) - 2; level >= 0; --level) {
      if (name == "root") name += '.';
      name += (path >> level & 1) != 0 ? 'R' : 'L';
    }
    problem_ = "node " + name + " " + what;
  }

  const BuiltTree& built_;
  std::string problem_;
};

}  // namespace

std::string tree_problem(const BuiltTree& built, const PreparedScene& scene) {
  Comparison comparison(built);
  build_reference(scene.boxes, scene.reference.limits, &comparison);
  return comparison.problem();
}

}  // namespace allocbench::kd_tree
