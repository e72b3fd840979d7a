#include "workloads/graph/graph_check.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace allocbench::graph {
namespace {

using Index = std::unordered_map<std::uint64_t, std::size_t>;

template <class Copies>
Index by_address(const Copies& copies) {
  Index index;
  index.reserve(copies.size());
  for (std::size_t i = 0; i < copies.size(); ++i) index.emplace(copies[i].address, i);
  return index;
}

class Walk {
 public:
  explicit Walk(const BuiltGraph& graph)
      : graph_(graph),
        nodes_(by_address(graph.nodes)),
        edges_(by_address(graph.edges)),
        node_seen_(graph.nodes.size()),
        edge_seen_(graph.edges.size()) {}

  // Returns the nodes from left to right. problem() is set if a link is wrong.
  std::vector<const NodeCopy*> in_order() {
    if (nodes_.size() != graph_.nodes.size()) problem_ = "two nodes have one address";
    std::vector<const NodeCopy*> result;
    std::vector<const NodeCopy*> path;
    std::uint64_t link = graph_.root;
    while (problem_.empty() && (link != 0 || !path.empty())) {
      if (link == 0) {
        result.push_back(path.back());
        link = path.back()->right;
        path.pop_back();
      } else if (const NodeCopy* node = enter(nodes_, node_seen_, graph_.nodes, link, "node")) {
        path.push_back(node);
        link = node->left;
      }
    }
    return result;
  }

  // Returns the sorted keys of a node's targets.
  std::vector<std::uint32_t> targets(const NodeCopy& node) {
    std::vector<std::uint32_t> keys;
    for (std::uint64_t link = node.edges; link != 0 && problem_.empty();) {
      const EdgeCopy* const edge = enter(edges_, edge_seen_, graph_.edges, link, "edge");
      if (edge == nullptr) break;
      const auto target = nodes_.find(edge->target);
      if (target == nodes_.end()) {
        problem_ = "an edge of node " + std::to_string(node.key) + " leads to no node";
        break;
      }
      keys.push_back(graph_.nodes[target->second].key);
      link = edge->next;
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  bool all_edges_seen() const { return std::find(edge_seen_.begin(), edge_seen_.end(), false) == edge_seen_.end(); }
  const std::string& problem() const { return problem_; }

 private:
  template <class Copy>
  const Copy* enter(const Index& index, std::vector<bool>& seen, const std::vector<Copy>& copies, std::uint64_t link,
                    const char* kind) {
    const auto found = index.find(link);
    if (found == index.end()) {
      problem_ = std::string("a link leads to no ") + kind;
      return nullptr;
    }
    if (seen[found->second]) {
      problem_ = std::string("two links lead to one ") + kind;
      return nullptr;
    }
    seen[found->second] = true;
    return &copies[found->second];
  }

  const BuiltGraph& graph_;
  Index nodes_;
  Index edges_;
  std::vector<bool> node_seen_;
  std::vector<bool> edge_seen_;
  std::string problem_;
};

}  // namespace

ExpectedGraph::ExpectedGraph(std::vector<Arc> list) : ids(distinct_ids(list)), arcs(std::move(list)) {
  std::ranges::sort(arcs, {}, [](const Arc& arc) { return std::pair(arc.source, arc.target); });
}

std::string graph_problem(const BuiltGraph& graph, const ExpectedGraph& expected) {
  Walk walk(graph);
  const std::vector<const NodeCopy*> nodes = walk.in_order();
  if (!walk.problem().empty()) return walk.problem();
  const std::vector<std::uint32_t>& ids = expected.ids;
  for (std::size_t i = 0; i < std::max(nodes.size(), ids.size()); ++i) {
    if (i >= ids.size() || (i < nodes.size() && nodes[i]->key < ids[i])) {
      return "the tree has a node " + std::to_string(nodes[i]->key) + " where none belongs";
    }
    if (i >= nodes.size() || nodes[i]->key != ids[i]) {
      return "the tree has no node " + std::to_string(ids[i]) + " where it belongs";
    }
  }
  auto arc = expected.arcs.begin();
  for (const NodeCopy* node : nodes) {
    const std::vector<std::uint32_t> found = walk.targets(*node);
    if (!walk.problem().empty()) return walk.problem();
    const auto first = arc;
    while (arc != expected.arcs.end() && arc->source == node->key) ++arc;
    if (!std::equal(first, arc, found.begin(), found.end(),
                    [](const Arc& each, std::uint32_t target) { return each.target == target; })) {
      return "the edges of node " + std::to_string(node->key) + " are not its " + std::to_string(arc - first) + " arcs";
    }
  }
  return walk.all_edges_seen() ? std::string() : "an edge is in no list";
}

}  // namespace allocbench::graph
