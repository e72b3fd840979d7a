// The oracle of kd_tree: the tree that follows from the rules, built by the host. Independent of devices.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/kd_tree/scene.hpp"
#include "workloads/kd_tree/split_rules.hpp"
#include "workloads/kd_tree/tree.hpp"

namespace allocbench::kd_tree {

// The box of every triangle.
std::vector<TriangleBox> boxes_of(const std::vector<Triangle>& triangles);

// The box of all boxes.
Box bounds_of(const std::vector<TriangleBox>& boxes);

struct ReferenceTree {
  Limits limits;
  RequestStatistics requests;
  std::uint64_t largest_request = 0;           // B
  std::array<std::uint64_t, 64> by_size = {};  // requests of 2^i to 2^(i+1) - 1 B
  std::uint64_t leaves = 0;
  std::uint64_t empty_leaves = 0;
  std::uint64_t passed_on = 0;   // nodes with one empty side: their list went to the other
  std::uint64_t references = 0;  // of all leaves
  TreeDigest digest;

  std::uint64_t nodes() const { return 2 * leaves - 1; }
};

// The nodes of build() in depth-first order, left before right, for detailed comparisons.
struct TreeVisitor {
  virtual ~TreeVisitor() = default;
  virtual void inner(std::uint64_t path, std::uint32_t plane, float position) = 0;
  virtual void leaf(std::uint64_t path, const std::uint32_t* references, std::uint32_t count) = 0;
};

// One triangle at least. Subtrees are built by several threads unless there is a visitor.
ReferenceTree build_reference(const std::vector<TriangleBox>& boxes, const Limits& limits,
                              TreeVisitor* visitor = nullptr);

}  // namespace allocbench::kd_tree
