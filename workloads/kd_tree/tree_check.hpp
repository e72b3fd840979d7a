// Says where a built tree differs from the reference: for the message, once digests differ. Host side.
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

// The first difference in depth-first order; empty when there is none. A node is named by its turns: "root.LLR".
std::string tree_problem(const BuiltTree& built, const PreparedScene& scene);

}  // namespace allocbench::kd_tree
