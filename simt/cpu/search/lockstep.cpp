#include "simt/cpu/search/lockstep.hpp"

#include <algorithm>
#include <tuple>

#include "simt/bits.hpp"
#include "simt/cpu/lane.hpp"

namespace simt {
namespace {

// A lane at converged() lets the lanes behind it catch up. The lane still gets its turn, because it may hold a lock for
// which those lanes spin.
constexpr std::uint64_t calls_per_gather = 16;

// The strategy keeps this count in the lane.
std::uint64_t& calls_of(Lane& lane) { return lane.strategy_state; }

}  // namespace

LockstepStrategy::LockstepStrategy(std::uint64_t seed, GroupDraw groups)
    : Strategy(groups),
      random_(seed),
      lane_order_(random_.below(warp_size)),
      slice_(1u << random_.below(6)),
      left_(slice_ * warp_size) {}

std::size_t LockstepStrategy::next(std::span<Lane* const> runnable, std::size_t, Reason reason, Lane* asking) {
  if (asking != nullptr) calls_of(*asking) += reason == Reason::gather ? calls_per_gather : 1;
  if (--left_ == 0 || reason == Reason::start) warp_ = nullptr;
  const auto in_warp = [&](const Lane* lane) { return lane->warp == warp_; };
  if (warp_ == nullptr || std::none_of(runnable.begin(), runnable.end(), in_warp)) {
    warp_ = runnable[random_.below(static_cast<std::uint32_t>(runnable.size()))]->warp;
    left_ = slice_ * warp_size;
  }
  const auto turn = [&](Lane& lane) { return std::tuple(calls_of(lane), lane.site.line, lane.index ^ lane_order_); };
  std::size_t first = runnable.size();
  for (std::size_t i = 0; i < runnable.size(); ++i) {
    if (in_warp(runnable[i]) && (first == runnable.size() || turn(*runnable[i]) < turn(*runnable[first]))) first = i;
  }
  return first;
}

void LockstepStrategy::met(Warp& warp, LaneMask members) {
  std::uint64_t most = 0;
  for (LaneMask rest = members; rest != 0; rest &= rest - 1) {
    most = std::max(most, calls_of(warp.lanes[count_trailing_zeros(rest)]));
  }
  for (LaneMask rest = members; rest != 0; rest &= rest - 1) calls_of(warp.lanes[count_trailing_zeros(rest)]) = most;
}

std::string LockstepStrategy::description() const { return "lockstep slice " + std::to_string(slice_); }

}  // namespace simt
