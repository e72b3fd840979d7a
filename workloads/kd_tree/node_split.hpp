// With these functions a warp splits a node, without the allocator. The warp counts the references on the sides of all
// planes, chooses a plane and sorts the references into the lists of the children.
//
// Lane i evaluates candidate plane i. The boxes of 64 triangles at a time are staged in shared memory, and each lane
// compares all of them with its plane, four at a time. So counting needs no vote, and a node of five references takes
// eight comparisons per lane and side.
#pragma once

#include <bit>
#include <limits>

#include "workloads/kd_tree/shared_nodes.hpp"

namespace allocbench::kd_tree {

inline constexpr std::uint32_t tile = 2 * simt::warp_size;  // references staged at a time

// The shared memory of a warp.
struct alignas(16) WarpScratch {
  // Lanes read from three rows at once, so rows start in different banks.
  static constexpr std::uint32_t row = tile + 4;
  float low[3][row];
  float high[3][row];
  RequestStatistics requests;  // this and the following members are those of BuildTotals; lane 0 keeps them
  std::uint64_t frees;
  std::uint64_t address_bits;
  std::uint64_t not_lowest;
  std::uint64_t end;
};

// This class is a base of WarpBuilder, because a member would keep thread, warp and lane in registers twice.
template <class Thread>
class NodeSplit : protected SharedNodes<Thread> {
 protected:
  SIMT_FN NodeSplit(Thread& thread, const BuildSetup& setup)
      : SharedNodes<Thread>(thread, setup),
        axis_(axis_of(lane_)),
        scratch_(thread.template shared<WarpScratch>(thread.block_size() / simt::warp_size)[thread.warp_in_block()]) {}

  // Counts the triangles of a part of the list on both sides of this lane's plane.
  SIMT_FN Sides count_sides(const Task& task, std::uint32_t first, std::uint32_t count, std::uint32_t (&triangles)[2]) {
    const float plane = plane_position(task);
    Sides sides{0, 0};
    for (std::uint32_t base = 0; base < count; base += tile) {
      if (base != 0) warp_.sync();  // all lanes have read the previous tile
      load_tile(task.list + first, count, base, triangles);
      const std::uint32_t staged = smaller(tile, count - base);
      for (std::uint32_t column = 0; column < staged; column += 4) {
        const simt::Word128 low = simt::load_16_bytes(&scratch_.low[axis_][column]);
        const simt::Word128 high = simt::load_16_bytes(&scratch_.high[axis_][column]);
        SIMT_UNROLLED for (std::uint32_t i = 0; i < 4; ++i) {
          sides.left += std::bit_cast<float>(low.words[i]) <= plane ? 1 : 0;
          sides.right += std::bit_cast<float>(high.words[i]) >= plane ? 1 : 0;
        }
      }
    }
    return sides;
  }

  // Returns the plane with the least cost, and the first one if several are equal. Costs are not negative, so their
  // bits can be compared.
  SIMT_FN Split choose(const Task& task, const Sides& sides, Sides& chosen) {
    const Box box{{task.low[0], task.low[1], task.low[2]}, {task.high[0], task.high[1], task.high[2]}};
    const float position = plane_position(task);
    const float areas = weighted_areas(box, axis_, position, sides.left, sides.right);
    const auto bits = std::bit_cast<std::uint32_t>(areas);
    const std::uint32_t least = ~warp_.reduce_max(~bits);
    const std::uint32_t plane = simt::count_trailing_zeros(warp_.ballot(bits == least));
    chosen = {warp_.shfl_lane(sides.left, plane), warp_.shfl_lane(sides.right, plane)};
    return {plane, warp_.shfl_lane(position, plane), split_fails(box, std::bit_cast<float>(least), task.count)};
  }

  // Sorts a part of the list into the lists of the children. Votes, and the cursors of a shared node, give the places.
  SIMT_FN void write_lists(const Task& task, std::uint32_t first, std::uint32_t count, const Split& split,
                           const Children& children, SharedNode* shared, bool staged, std::uint32_t (&triangles)[2]) {
    const std::uint32_t axis = axis_of(split.plane);
    const std::uint32_t below = (1u << lane_) - 1;
    std::uint32_t left_at = 0;
    std::uint32_t right_at = 0;
    for (std::uint32_t base = 0; base < count; base += tile) {
      if (!staged) {
        warp_.sync();
        load_tile(task.list + first, count, base, triangles);
      }
      std::uint32_t left_votes[2];
      std::uint32_t right_votes[2];
      SIMT_UNROLLED for (std::uint32_t half = 0; half < 2; ++half) {
        const std::uint32_t column = half * simt::warp_size + lane_;
        left_votes[half] = warp_.ballot(scratch_.low[axis][column] <= split.position);
        right_votes[half] = warp_.ballot(scratch_.high[axis][column] >= split.position);
      }
      const std::uint32_t left_count = simt::popcount(left_votes[0]) + simt::popcount(left_votes[1]);
      const std::uint32_t right_count = simt::popcount(right_votes[0]) + simt::popcount(right_votes[1]);
      if (shared != nullptr) {
        std::uint32_t place = 0;
        if (lane_ < 2) {
          place =
              thread_.atomic(shared->cursors[lane_]).fetch_add(lane_ == 0 ? left_count : right_count, simt::relaxed);
        }
        left_at = warp_.shfl_lane(place, 0);
        right_at = warp_.shfl_lane(place, 1);
      }
      SIMT_UNROLLED for (std::uint32_t half = 0; half < 2; ++half) {
        const std::uint32_t left = left_at + simt::popcount(left_votes[half] & below);
        const std::uint32_t right = right_at + simt::popcount(right_votes[half] & below);
        if ((left_votes[half] >> lane_ & 1) != 0 && left < children.counts.left) children.left[left] = triangles[half];
        if ((right_votes[half] >> lane_ & 1) != 0 && right < children.counts.right) {
          children.right[right] = triangles[half];
        }
        left_at += simt::popcount(left_votes[half]);
        right_at += simt::popcount(right_votes[half]);
      }
    }
    warp_.sync();
  }

  static SIMT_FN std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

  using SharedNodes<Thread>::lane_;
  using SharedNodes<Thread>::setup_;
  using SharedNodes<Thread>::thread_;
  using SharedNodes<Thread>::warp_;
  std::uint32_t axis_;
  WarpScratch& scratch_;

 private:
  static constexpr std::uint32_t no_triangle = 0xffffffffu;

  // Loads the tile that starts at `base`: triangle numbers into registers, boxes into shared memory. Entries after the
  // end of the list and invalid numbers lie on no side of any plane.
  SIMT_FN void load_tile(const std::uint32_t* list, std::uint32_t count, std::uint32_t base,
                         std::uint32_t (&triangles)[2]) {
    constexpr float nowhere = std::numeric_limits<float>::infinity();
    SIMT_UNROLLED for (std::uint32_t half = 0; half < 2; ++half) {
      const std::uint32_t at = base + half * simt::warp_size + lane_;
      triangles[half] = at < count ? list[at] : no_triangle;
    }
    TriangleBox boxes[2];
    SIMT_UNROLLED for (std::uint32_t half = 0; half < 2; ++half) {
      if (triangles[half] < setup_.triangles) {
        boxes[half] = setup_.boxes[triangles[half]];
      } else {
        boxes[half] = {{nowhere, nowhere, nowhere}, 0, {-nowhere, -nowhere, -nowhere}, 0};
      }
    }
    SIMT_UNROLLED for (std::uint32_t half = 0; half < 2; ++half) {
      const std::uint32_t column = half * simt::warp_size + lane_;
      SIMT_UNROLLED for (std::uint32_t axis = 0; axis < 3; ++axis) {
        scratch_.low[axis][column] = boxes[half].low[axis];
        scratch_.high[axis][column] = boxes[half].high[axis];
      }
    }
    warp_.sync();
  }

  SIMT_FN float plane_position(const Task& task) const {
    return position_of(lane_, axis_,
                       axis_ == 0   ? task.low[0]
                       : axis_ == 1 ? task.low[1]
                                    : task.low[2],
                       axis_ == 0   ? task.high[0]
                       : axis_ == 1 ? task.high[1]
                                    : task.high[2]);
  }
};

}  // namespace allocbench::kd_tree
