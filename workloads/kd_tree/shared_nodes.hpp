// This file handles nodes that many warps share. A node with more than `solo_references` references is shared. Its list
// is cut into parts.
//
// Warps process a shared node twice. First they count the references of its parts on both sides of each plane. After
// the choice of a plane, they sort the parts into the lists of the children. Both times the parts are tasks in the
// queue. Each finished part decrements a counter with acquire and release. The warp that finishes the last part
// therefore sees the writes of the others and continues with the node. The lanes of a warp look together for a free
// shared node in a bitmap. If there is none, or no room for the parts, the node stays with its warp.
#pragma once

#include <utility>

#include "workloads/kd_tree/build_setup.hpp"

namespace allocbench::kd_tree {

// Sides has the numbers of references on both sides of a plane.
struct Sides {
  std::uint32_t left;
  std::uint32_t right;
};

struct Split {
  std::uint32_t plane;
  float position;
  bool fails;
};

// The lists of the children.
struct Children {
  std::uint32_t* left;
  std::uint32_t* right;
  Sides counts;
};

// The part of WarpBuilder that handles shared nodes. It is a base class, because a member would keep thread, warp and
// lane in registers twice.
template <class Thread>
class SharedNodes {
 protected:
  SIMT_FN SharedNodes(Thread& thread, const BuildSetup& setup)
      : thread_(thread),
        setup_(setup),
        warp_(thread.warp()),
        lane_(thread.lane()),
        warp_index_(thread.rank_in_grid() / simt::warp_size) {}

  // Puts parts of the node into the queue if there is room for them and a free shared node is found. Returns false
  // otherwise; this warp then keeps the node.
  SIMT_FN bool share(const Task& task) const {
    const std::uint32_t parts = parts_of(task);
    std::uint32_t found = no_shared_node;
    if (lane_ == 0 && thread_.atomic(setup_.parts->word).fetch_add(parts, simt::relaxed) + parts <= setup_.most_parts) {
      found = 0;
    }
    if (warp_.shfl_lane(found, 0) == no_shared_node) {
      if (lane_ == 0) thread_.atomic(setup_.parts->word).fetch_sub(parts, simt::relaxed);
      return false;
    }
    found = no_shared_node;
    const std::uint32_t word = (lane_ + warp_index_) % BuildSetup::shared_node_words;
    std::uint32_t used = thread_.atomic(setup_.shared_node_bits[word]).load(simt::relaxed);
    for (std::uint32_t attempt = 0; attempt < 8; ++attempt) {
      const std::uint32_t candidates = warp_.ballot(used != ~0u);
      if (candidates == 0) break;
      if (lane_ == simt::count_trailing_zeros(candidates)) {
        const std::uint32_t bit = simt::count_trailing_zeros(~used);
        used = thread_.atomic(setup_.shared_node_bits[word]).fetch_or(1u << bit, simt::acquire);
        if ((used >> bit & 1) == 0) found = word * 32 + bit;
      }
      found = warp_.shfl_lane(found, simt::count_trailing_zeros(candidates));
      if (found != no_shared_node) break;
    }
    if (found == no_shared_node) {
      if (lane_ == 0) thread_.atomic(setup_.parts->word).fetch_sub(parts, simt::relaxed);
      return false;
    }
    SharedNode& shared = setup_.shared_nodes[found];
    thread_.atomic(shared.sides[lane_]).store(0u, simt::relaxed);
    thread_.atomic(shared.sides[plane_count + lane_]).store(0u, simt::relaxed);
    if (lane_ == 0) {
      shared.task = task;
      shared.splitting = 0;
      thread_.atomic(shared.parts_left).store(parts, simt::relaxed);
    }
    warp_.sync();
    put_parts(found, parts);
    return true;
  }

  // Adds the sides of this warp's part. Returns true for the last part, with the node's sums in `sides`.
  SIMT_FN bool add_sides(SharedNode& shared, Sides& sides) const {
    thread_.atomic(shared.sides[lane_]).fetch_add(sides.left, simt::relaxed);
    thread_.atomic(shared.sides[plane_count + lane_]).fetch_add(sides.right, simt::relaxed);
    if (!last_part(shared)) return false;
    sides.left = thread_.atomic(shared.sides[lane_]).load(simt::relaxed);
    sides.right = thread_.atomic(shared.sides[plane_count + lane_]).load(simt::relaxed);
    return true;
  }

  SIMT_FN void publish_split(SharedNode* shared, const Task& task, const Split& split, const Children& children) const {
    const std::uint32_t parts = parts_of(task);
    if (lane_ == 0) {
      shared->lists[0] = children.left;
      shared->lists[1] = children.right;
      shared->counts[0] = children.counts.left;
      shared->counts[1] = children.counts.right;
      shared->plane = split.plane;
      shared->position = split.position;
      shared->fails = split.fails ? 1 : 0;
      shared->splitting = 1;
      thread_.atomic(shared->parts_left).store(parts, simt::relaxed);
      thread_.atomic(shared->cursors[0]).store(0u, simt::relaxed);
      thread_.atomic(shared->cursors[1]).store(0u, simt::relaxed);
    }
    warp_.sync();
    put_parts(static_cast<std::uint32_t>(shared - setup_.shared_nodes), parts);
  }

  // Marks this warp's part as done. Returns true for the last part, whose warp sees the writes of the others.
  SIMT_FN bool last_part(SharedNode& shared) const {
    warp_.sync();
    std::uint32_t left = 0;
    if (lane_ == 0) left = thread_.atomic(shared.parts_left).fetch_sub(1u, simt::acq_rel);
    return warp_.shfl_lane(left, 0) == 1;
  }

  SIMT_FN void give_back(SharedNode* shared) const {
    warp_.sync();  // all lanes have read the shared node
    if (lane_ != 0) return;
    const std::uint32_t parts = parts_of(shared->task);
    const auto index = static_cast<std::uint32_t>(shared - setup_.shared_nodes);
    thread_.atomic(setup_.shared_node_bits[index / 32]).fetch_and(~(1u << index % 32), simt::release);
    thread_.atomic(setup_.parts->word).fetch_sub(parts, simt::relaxed);
  }

  Thread& thread_;
  const BuildSetup& setup_;
  decltype(std::declval<Thread&>().warp()) warp_;
  std::uint32_t lane_;
  std::uint32_t warp_index_;

 private:
  static constexpr std::uint32_t no_shared_node = 0xffffffffu;

  SIMT_FN void put_parts(std::uint32_t shared_node, std::uint32_t parts) const {
    setup_.queue.put(thread_, warp_, parts, [&](std::uint32_t i) {
      Task part{};
      part.node = shared_node;
      part.level = Task::level_of(TaskKind::part, 0, 0, false);
      part.part = i;
      return part;
    });
  }

  SIMT_FN std::uint32_t parts_of(const Task& task) const {
    return (task.count + setup_.part_references - 1) / setup_.part_references;
  }
};

}  // namespace allocbench::kd_tree
