#include "workloads/kd_tree/reference_tree.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace allocbench::kd_tree {

Limits Limits::of(std::uint32_t triangles, std::uint32_t depth, std::uint32_t failed_splits) {
  Limits result{depth, failed_splits};
  if (result.depth == 0) result.depth = static_cast<std::uint32_t>(1.2 * std::log2(triangles) + 2.0);
  if (result.failed_splits == 0) result.failed_splits = static_cast<std::uint32_t>(0.26 * result.depth + 1.0);
  return result;
}

double RequestStatistics::mean() const {
  return mallocs == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(mallocs);
}
static double deviation_of(std::uint64_t squares, std::uint64_t count, double mean) {
  if (count == 0) return 0;
  return std::sqrt(std::max(0.0, static_cast<double>(squares) / static_cast<double>(count) - mean * mean));
}
double RequestStatistics::deviation() const { return deviation_of(squares, mallocs, mean()); }
double RequestStatistics::wrapped_deviation() const { return deviation_of(wrapped_squares, mallocs, mean()); }

std::vector<TriangleBox> boxes_of(const std::vector<Triangle>& triangles) {
  std::vector<TriangleBox> boxes(triangles.size());
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const auto [a, b, c] = triangles[i];
    TriangleBox& box = boxes[i];
    box.low[0] = std::min({a.x, b.x, c.x}), box.high[0] = std::max({a.x, b.x, c.x});
    box.low[1] = std::min({a.y, b.y, c.y}), box.high[1] = std::max({a.y, b.y, c.y});
    box.low[2] = std::min({a.z, b.z, c.z}), box.high[2] = std::max({a.z, b.z, c.z});
  }
  return boxes;
}

Box bounds_of(const std::vector<TriangleBox>& boxes) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Box bounds{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  for (const TriangleBox& box : boxes) {
    for (int axis = 0; axis < 3; ++axis) {
      bounds.low[axis] = std::min(bounds.low[axis], box.low[axis]);
      bounds.high[axis] = std::max(bounds.high[axis], box.high[axis]);
    }
  }
  return bounds;
}

namespace {

struct Counts {
  std::uint32_t left[plane_count] = {};
  std::uint32_t right[plane_count] = {};
};

using List = std::vector<std::uint32_t>;

// A node whose subtree another builder makes.
struct Subtree {
  Box box;
  List list;
  std::uint32_t depth;
  std::uint32_t failed;
  std::uint64_t path;
};

class Builder {
 public:
  // If `later` is given, nodes of at most `later_size` references are added to it instead of being built.
  Builder(const std::vector<TriangleBox>& boxes, const Limits& limits, TreeVisitor* visitor,
          std::vector<Subtree>* later = nullptr, std::size_t later_size = 0)
      : boxes_(boxes), visitor_(visitor), later_(later), later_size_(later_size) {
    result_.limits = limits;
  }

  void build(Subtree& subtree) { node(subtree.box, subtree.list, subtree.depth, subtree.failed, subtree.path); }

  const ReferenceTree& result() const { return result_; }

 private:
  // Builds the subtree of a node. The contents of `list` are lost.
  void node(const Box& box, List& list, std::uint32_t depth, std::uint32_t failed, std::uint64_t path) {
    const auto count = static_cast<std::uint32_t>(list.size());
    float positions[plane_count];
    for (std::uint32_t plane = 0; plane < plane_count; ++plane) {
      const std::uint32_t axis = axis_of(plane);
      positions[plane] = position_of(plane, axis, box.low[axis], box.high[axis]);
    }
    const Counts counts = count_sides(list, positions);
    std::uint32_t best = 0;
    float least = std::numeric_limits<float>::infinity();
    for (std::uint32_t plane = 0; plane < plane_count; ++plane) {
      const float areas =
          weighted_areas(box, axis_of(plane), positions[plane], counts.left[plane], counts.right[plane]);
      if (areas < least) {
        least = areas;
        best = plane;
      }
    }
    const bool fails = split_fails(box, least, count);
    failed += fails ? 1 : 0;
    if (failed > result_.limits.failed_splits) return leaf(path, list);
    const std::uint32_t axis = axis_of(best);
    List left;
    List right;
    if (counts.left[best] == 0 || counts.right[best] == 0) {
      ++result_.passed_on;
      (counts.left[best] == 0 ? right : left) = std::move(list);
      list = {};
    } else {
      request(counts.left[best]);
      request(counts.right[best]);
      left.reserve(counts.left[best]);
      right.reserve(counts.right[best]);
      for (const std::uint32_t triangle : list) {
        if (boxes_[triangle].low[axis] <= positions[best]) left.push_back(triangle);
        if (boxes_[triangle].high[axis] >= positions[best]) right.push_back(triangle);
      }
    }
    failed += fails ? 1 : 0;
    if (failed > result_.limits.failed_splits) {
      if (list.empty()) list = std::move(left.empty() ? right : left);
      return leaf(path, list);
    }
    list = {};
    result_.digest.hash += inner_hash(path, best, std::bit_cast<std::uint32_t>(positions[best]));
    if (visitor_ != nullptr) visitor_->inner(path, best, positions[best]);
    Box child = box;
    child.high[axis] = positions[best];
    child_of(child, left, depth, failed, child_path(path, 0));
    child = box;
    child.low[axis] = positions[best];
    child_of(child, right, depth, failed, child_path(path, 1));
  }

  void child_of(const Box& box, List& list, std::uint32_t parent_depth, std::uint32_t failed, std::uint64_t path) {
    if (list.size() <= largest_leaf || result_.limits.children_are_leaves(parent_depth)) return leaf(path, list);
    if (later_ != nullptr && list.size() <= later_size_) {
      later_->push_back({box, std::move(list), parent_depth + 1, failed, path});
      return;
    }
    node(box, list, parent_depth + 1, failed, path);
  }

  // The loop handles plane by plane without branches, so the compiler can vectorise it.
  Counts count_sides(const List& list, const float (&positions)[plane_count]) const {
    Counts counts;
    for (const std::uint32_t triangle : list) {
      const TriangleBox& box = boxes_[triangle];
      std::uint32_t plane = 0;
      for (std::uint32_t axis = 0; axis < 3; ++axis) {
        const float low = box.low[axis];
        const float high = box.high[axis];
        const std::uint32_t end = axis == 2 ? plane_count : plane + planes_per_axis;
        for (; plane < end; ++plane) {
          counts.left[plane] += low <= positions[plane] ? 1 : 0;
          counts.right[plane] += high >= positions[plane] ? 1 : 0;
        }
      }
    }
    return counts;
  }

  void request(std::uint32_t count) {
    const std::uint64_t bytes = std::uint64_t{count} * sizeof(std::uint32_t);
    result_.requests.add(bytes);
    if (bytes != 0) ++result_.by_size[static_cast<std::size_t>(std::bit_width(bytes)) - 1];
    result_.largest_request = std::max(result_.largest_request, bytes);
  }

  void leaf(std::uint64_t path, const List& list) {
    ++result_.leaves;
    result_.references += list.size();
    if (list.empty()) ++result_.empty_leaves;
    std::uint64_t sum = 0;
    for (const std::uint32_t triangle : list) sum += reference_hash(triangle);
    const auto count = static_cast<std::uint32_t>(list.size());
    result_.digest.hash += leaf_hash(path, count, sum);
    if (visitor_ != nullptr) visitor_->leaf(path, list.data(), count);
  }

  const std::vector<TriangleBox>& boxes_;
  TreeVisitor* visitor_;
  std::vector<Subtree>* later_;
  std::size_t later_size_;
  ReferenceTree result_;
};

// All counts and the digest are sums, so subtrees may be added in any order.
void add(ReferenceTree& sum, const ReferenceTree& part) {
  sum.requests.mallocs += part.requests.mallocs;
  sum.requests.bytes += part.requests.bytes;
  sum.requests.squares += part.requests.squares;
  sum.requests.wrapped_squares += part.requests.wrapped_squares;
  for (std::size_t i = 0; i < sum.by_size.size(); ++i) sum.by_size[i] += part.by_size[i];
  sum.largest_request = std::max(sum.largest_request, part.largest_request);
  sum.leaves += part.leaves;
  sum.empty_leaves += part.empty_leaves;
  sum.passed_on += part.passed_on;
  sum.references += part.references;
  sum.digest.hash += part.digest.hash;
}

ReferenceTree build_subtrees(const std::vector<TriangleBox>& boxes, const Limits& limits,
                             std::vector<Subtree>& subtrees) {
  std::sort(subtrees.begin(), subtrees.end(),
            [](const Subtree& a, const Subtree& b) { return a.list.size() > b.list.size(); });
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  ReferenceTree sum;
  const auto work = [&] {
    Builder builder(boxes, limits, nullptr);
    for (std::size_t i = next++; i < subtrees.size(); i = next++) builder.build(subtrees[i]);
    const std::lock_guard lock(mutex);
    add(sum, builder.result());
  };
  std::vector<std::jthread> helpers;
  for (unsigned i = 1; i < std::min(16u, std::thread::hardware_concurrency()); ++i) helpers.emplace_back(work);
  work();
  helpers.clear();  // waits for the threads
  return sum;
}

}  // namespace

ReferenceTree build_reference(const std::vector<TriangleBox>& boxes, const Limits& limits, TreeVisitor* visitor) {
  constexpr std::size_t worth_helpers = 10'000;
  constexpr std::size_t subtrees_at_least = 64;
  if (boxes.empty()) throw std::invalid_argument("a tree of no triangle");
  const bool with_helpers = visitor == nullptr && boxes.size() >= worth_helpers;
  std::vector<Subtree> subtrees;
  Builder builder(boxes, limits, visitor, with_helpers ? &subtrees : nullptr, boxes.size() / subtrees_at_least);
  Subtree root{bounds_of(boxes), List(boxes.size()), 0, 0, root_path};
  std::iota(root.list.begin(), root.list.end(), 0u);
  builder.build(root);
  ReferenceTree result = builder.result();
  if (with_helpers) add(result, build_subtrees(boxes, limits, subtrees));
  result.digest.leaves = result.leaves;
  result.digest.inner = result.leaves - 1;
  result.digest.references = result.references;
  return result;
}

}  // namespace allocbench::kd_tree
