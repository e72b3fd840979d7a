#include "simt/cpu/rendezvous.hpp"

#include "simt/bits.hpp"
#include "simt/cpu/diagnosis.hpp"

namespace simt {
namespace {

// Returns whether two lanes are at the same operation with the same mask and, except for sync, the same call site.
bool same_key(const Lane& a, const Lane& b) {
  return a.operation == b.operation && a.mask == b.mask && (a.operation == Operation::sync || a.site == b.site);
}

std::string mismatch(const Lane& lane, const Lane& other) {
  const std::string who = "lane " + std::to_string(lane.index) + " of " + warp_name(*lane.warp);
  const std::string they = "lane " + std::to_string(other.index);
  if (other.state == LaneState::at_barrier) {
    return who + " waits in " + call_text(lane) + " for " + they + ", which waits at the block barrier (" +
           site_text(other.site) + ") for this lane: neither can go on";
  }
  if (lane.operation != other.operation) {
    return who + " calls " + call_text(lane) + ", but " + they + " of its mask waits in another operation, " +
           call_text(other) + ", for this lane: neither can complete";
  }
  if (lane.mask != other.mask) {
    return who + " calls " + call_text(lane) + " with a foreign mask: " + they + " waits in " + call_text(other) +
           " for this lane; all lanes of a mask must name the same mask";
  }
  return who + " calls " + call_text(lane) + ", but " + they + " of its mask made the call at another place, " +
         call_text(other) + ": only sync may be reached from different call sites";
}

template <class Visit>
void for_each_lane(const Warp& warp, LaneMask mask, Visit visit) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) visit(warp.lanes[count_trailing_zeros(rest)]);
}

void deliver_shuffles(const Warp& warp, LaneMask arrived, std::string& error) {
  for_each_lane(warp, arrived, [&](Lane& lane) {
    const LaneMask source_bit = lane.source < warp_size ? LaneMask{1} << lane.source : 0;
    if ((arrived & source_bit) != 0) {
      lane.result = warp.lanes[lane.source].value;
    } else if (error.empty()) {
      const char* reason = (lane.mask & source_bit) == 0      ? "is outside the mask"
                           : (warp.present & source_bit) == 0 ? "is absent from this partial warp"
                                                              : "has exited";
      error = "lane " + std::to_string(lane.index) + " of " + warp_name(warp) + " reads in " + call_text(lane) +
              (lane.source < warp_size ? " from lane " + std::to_string(lane.source) + ", which " + reason
                                       : " from a rank outside the group") +
              ": the value is undefined";
    }
  });
}

void deliver(const Warp& warp, Operation operation, LaneMask arrived, std::string& error) {
  LaneMask votes = 0;
  std::uint64_t sum = 0;
  std::uint64_t maximum = 0;
  for_each_lane(warp, arrived, [&](const Lane& lane) {
    if (lane.value != 0) votes |= lane.bit();
    sum += lane.value;
    maximum = lane.value > maximum ? lane.value : maximum;
  });
  std::uint64_t sum_below = 0;
  for_each_lane(warp, arrived, [&](Lane& lane) {
    switch (operation) {
      case Operation::ballot:
        lane.result = votes;
        break;
      case Operation::any:
        lane.result = votes != 0;
        break;
      case Operation::all:
        lane.result = votes == arrived;
        break;
      case Operation::match_any: {
        LaneMask equal = 0;
        for_each_lane(warp, arrived, [&](const Lane& other) { equal |= other.value == lane.value ? other.bit() : 0; });
        lane.result = equal;
        break;
      }
      case Operation::reduce_add:
        lane.result = sum;
        break;
      case Operation::reduce_max:
        lane.result = maximum;
        break;
      case Operation::exclusive_sum:
        lane.result = sum_below;
        sum_below += lane.value;
        break;
      default:
        break;
    }
  });
  if (operation == Operation::shfl) deliver_shuffles(warp, arrived, error);
}

}  // namespace

std::string diagnose_arrival(const Lane& lane) {
  if ((lane.mask & lane.bit()) == 0) {
    return "lane " + std::to_string(lane.index) + " of " + warp_name(*lane.warp) + " calls " + call_text(lane) +
           ", but the caller is not in its mask";
  }
  std::string error;
  for_each_lane(*lane.warp, lane.mask & lane.warp->present & ~lane.warp->exited & ~lane.bit(), [&](const Lane& other) {
    if (!error.empty()) return;
    // A lane that waits for a group without this lane may still arrive here later.
    const bool waits_for_me =
        other.state == LaneState::at_barrier || (other.state == LaneState::waiting && (other.mask & lane.bit()) != 0);
    if (waits_for_me && !same_key(lane, other)) error = mismatch(lane, other);
  });
  return error;
}

std::string diagnose_barrier_arrival(const Lane& lane) {
  for (const Warp& warp : lane.block->warps) {
    std::string error;
    for_each_lane(warp, warp.present & ~warp.exited, [&](const Lane& other) {
      if (!error.empty() || &other == &lane) return;
      if (other.state == LaneState::at_barrier && !(other.site == lane.site)) {
        error = "divergent block barrier: lane " + std::to_string(lane.index) + " of " + warp_name(*lane.warp) +
                " arrives at " + site_text(lane.site) + ", but lane " + std::to_string(other.index) + " of " +
                warp_name(warp) + " waits at " + site_text(other.site);
      } else if (&warp == lane.warp && other.state == LaneState::waiting && (other.mask & lane.bit()) != 0) {
        error = mismatch(other, lane);
      }
    });
    if (!error.empty()) return error;
  }
  return {};
}

LaneMask try_complete(const Lane& lane, std::string& error) {
  const Warp& warp = *lane.warp;
  const LaneMask expected = lane.mask & warp.present & ~warp.exited;
  bool complete = true;
  for_each_lane(warp, expected, [&](const Lane& other) {
    complete = complete && other.state == LaneState::waiting && same_key(lane, other);
  });
  if (!complete) return 0;
  deliver(warp, lane.operation, expected, error);
  return expected;
}

}  // namespace simt
