// Finds the difference between a built tree and the reference, for the message after digests differ. Host code.
#pragma once

#include <string>
#include <vector>

#include "workloads/kd_tree/prepared_scene.hpp"

namespace allocbench::kd_tree {

// The tree as device memory holds it.
struct BuiltTree {
  std::vector<Node> nodes;
  std::vector<std::uint32_t> references;
};

// The first difference in depth-first order. Empty if there is none. The name of a node is its path: "root.LLR".
std::string tree_problem(const BuiltTree& built, const PreparedScene& scene);

}  // namespace allocbench::kd_tree
