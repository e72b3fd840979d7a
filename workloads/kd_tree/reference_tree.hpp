// The oracle of kd_tree builds, on the host, the tree that follows from the split rules. This code does not depend on
// devices.
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

// Returns the box of every triangle.
std::vector<TriangleBox> boxes_of(const std::vector<Triangle>& triangles);

// Returns the smallest box that contains all boxes.
Box bounds_of(const std::vector<TriangleBox>& boxes);

struct ReferenceTree {
  Limits limits;
  RequestStatistics requests;
  std::uint64_t largest_request = 0;           // largest request in bytes
  std::array<std::uint64_t, 64> by_size = {};  // entry i counts requests of 2^i to 2^(i+1) - 1 B
  std::uint64_t leaves = 0;
  std::uint64_t empty_leaves = 0;
  std::uint64_t passed_on = 0;   // nodes with one empty side; the child on the other side takes their list
  std::uint64_t references = 0;  // references of all leaves
  TreeDigest digest;

  std::uint64_t nodes() const { return 2 * leaves - 1; }
};

// Visits the nodes of a build in depth-first order, left before right, for detailed comparisons.
struct TreeVisitor {
  virtual ~TreeVisitor() = default;
  virtual void inner(std::uint64_t path, std::uint32_t plane, float position) = 0;
  virtual void leaf(std::uint64_t path, const std::uint32_t* references, std::uint32_t count) = 0;
};

// Builds the tree of at least one triangle. For 10,000 triangles or more, several threads build subtrees, unless there
// is a visitor.
ReferenceTree build_reference(const std::vector<TriangleBox>& boxes, const Limits& limits,
                              TreeVisitor* visitor = nullptr);

}  // namespace allocbench::kd_tree
