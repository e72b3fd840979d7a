// These functions are the rules of the kd-tree build: the candidate planes, the surface area heuristic and the
// conditions for a leaf.
//
// Papers: Vinkler & Havran 2015, sec. 5 [DS]. Constants that the paper leaves open are those of its authors' framework
// (Vinkler et al., CGF 2013 and TVCG 2016).
//
// Host and device share this code and must get the same bits. With different bits, only one of them might split a node
// at the limit of a rule. So every product is rounded before it is added. Otherwise nvcc would fuse the two operations.
// Host units are compiled with -ffp-contract=off.
#pragma once

#include <cstdint>

#include "simt/common.hpp"

namespace allocbench::kd_tree {

inline constexpr std::uint32_t plane_count = 32;      // 11 in x, 11 in y and 10 in z; one plane per lane of a warp
inline constexpr std::uint32_t planes_per_axis = 11;  // number of planes in x and in y
inline constexpr float intervals = 12;                // equal parts of an axis; their inner borders are the planes
inline constexpr float traversal_cost = 1;            // cost Ct of a traversal step
inline constexpr float failing_share = 0.9f;          // largest share of a leaf's cost that a split may cost
inline constexpr std::uint32_t largest_leaf = 2;      // most references of a child that is always a leaf

SIMT_HOST_FN float times(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
SIMT_HOST_FN float plus(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}
SIMT_HOST_FN float over(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

struct Box {
  float low[3];
  float high[3];
};

SIMT_HOST_FN std::uint32_t axis_of(std::uint32_t plane) {
  return plane < planes_per_axis ? 0 : plane < 2 * planes_per_axis ? 1 : 2;
}

// Returns the position of a plane on its axis between `low` and `high`.
SIMT_HOST_FN float position_of(std::uint32_t plane, std::uint32_t axis, float low, float high) {
  const auto step = static_cast<float>(plane - axis * planes_per_axis + 1);
  return plus(low, over(times(plus(high, -low), step), intervals));
}

// Returns half of the surface area. Only ratios of areas matter.
SIMT_HOST_FN float half_area(float x, float y, float z) { return plus(plus(times(x, y), times(y, z)), times(z, x)); }

SIMT_HOST_FN float half_area(const Box& box) {
  return half_area(plus(box.high[0], -box.low[0]), plus(box.high[1], -box.low[1]), plus(box.high[2], -box.low[2]));
}

// Returns the sum of the half areas of the two parts, each weighted with the number of its references. The chosen plane
// has the smallest value.
SIMT_HOST_FN float weighted_areas(const Box& box, std::uint32_t axis, float position, std::uint32_t left,
                                  std::uint32_t right) {
  const float x = plus(box.high[0], -box.low[0]);
  const float y = plus(box.high[1], -box.low[1]);
  const float z = plus(box.high[2], -box.low[2]);
  const float below = plus(position, -(axis == 0 ? box.low[0] : axis == 1 ? box.low[1] : box.low[2]));
  const float above = plus(axis == 0 ? box.high[0] : axis == 1 ? box.high[1] : box.high[2], -position);
  const float left_area = half_area(axis == 0 ? below : x, axis == 1 ? below : y, axis == 2 ? below : z);
  const float right_area = half_area(axis == 0 ? above : x, axis == 1 ? above : y, axis == 2 ? above : z);
  return plus(times(left_area, static_cast<float>(left)), times(right_area, static_cast<float>(right)));
}

// Returns whether a split of a node costs more than the share `failing_share` of a leaf's cost. A test of a
// triangle costs 1, like a traversal step.
SIMT_HOST_FN bool split_fails(const Box& box, float weighted, std::uint32_t references) {
  const float cost = plus(traversal_cost, over(weighted, half_area(box)));
  return over(cost, static_cast<float>(references)) > failing_share;
}

// Limits of the tree. By default they follow from the number of triangles.
struct Limits {
  std::uint32_t depth = 0;          // largest depth of a leaf; the root has depth 0
  std::uint32_t failed_splits = 0;  // limit of a count along a path, to which each failed split adds 2

  // Computes the limits. Arguments other than 0 are kept.
  static Limits of(std::uint32_t triangles, std::uint32_t depth, std::uint32_t failed_splits);

  // Returns whether both children of a node at this depth are leaves.
  SIMT_HOST_FN bool children_are_leaves(std::uint32_t node_depth) const { return node_depth + 2 > depth; }
};

}  // namespace allocbench::kd_tree
