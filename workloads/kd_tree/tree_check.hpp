// This file finds the difference between a built tree and the reference, for a message if their digests differ. This is
// host code.
#pragma once

#include <string>
#include <vector>

#include "workloads/kd_tree/prepared_scene.hpp"

namespace allocbench::kd_tree {

// The tree as it is in device memory.
struct BuiltTree {
  std::vector<Node> nodes;
  std::vector<std::uint32_t> references;
};

// Returns the first difference in depth-first order, or an empty text. A node is named by its path, such as "root.LLR".
std::string tree_problem(const BuiltTree& built, const PreparedScene& scene);

}  // namespace allocbench::kd_tree
