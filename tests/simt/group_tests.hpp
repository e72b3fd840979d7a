// Conformance of groups: these tests cover votes, shuffles, matches and reductions on all kinds of masks, and
// opportunistic groups.
#pragma once

#include <algorithm>
#include <numeric>

#include "tests/simt/conformance.hpp"

namespace simt::conformance {

struct SplitAndVote {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, LaneMask mask) const {
    const std::uint32_t lane = thread.lane();
    const auto group = thread.warp().partition((mask >> lane & 1) != 0);
    std::uint32_t* mine = output + thread.rank_in_grid() * 11;
    mine[0] = group.mask();
    mine[1] = group.num_threads();
    mine[2] = group.thread_rank();
    mine[3] = group.leader();
    mine[4] = group.leader_lane();
    mine[5] = group.ballot(lane % 3 == 0);
    mine[6] = group.any(lane == 31);
    mine[7] = group.any(false);
    mine[8] = group.all(lane != 8);
    mine[9] = group.all(true);
    mine[10] = group.apart().mask();
    group.sync();
  }
};

TEST_P(Conformance, VotesOnEveryKindOfMask) {
  LaneMask multiples_of_3 = 0;
  for (std::uint32_t lane = 0; lane < 32; lane += 3) multiples_of_3 |= LaneMask{1} << lane;
  for (const LaneMask mask : masks) {
    const auto seen = run({2, 64}, 11, SplitAndVote{}, mask);
    for (std::uint32_t thread = 0; thread < 128; ++thread) {
      SCOPED_TRACE("mask " + std::to_string(mask) + " thread " + std::to_string(thread));
      const std::uint32_t lane = thread % 32;
      const LaneMask side = side_of(mask, lane);
      const std::uint32_t* mine = &seen[thread * 11];
      EXPECT_EQ(mine[0], side);
      EXPECT_EQ(mine[1], popcount(side));
      EXPECT_EQ(mine[2], popcount(side & below(lane)));
      EXPECT_EQ(mine[3], (side & below(lane)) == 0);
      EXPECT_EQ(mine[4], count_trailing_zeros(side));
      EXPECT_EQ(mine[5], side & multiples_of_3);
      EXPECT_EQ(mine[6], side >> 31);
      EXPECT_EQ(mine[7], 0u);
      EXPECT_EQ(mine[8], (side >> 8 & 1) == 0);
      EXPECT_EQ(mine[9], 1u);
      EXPECT_EQ(mine[10], side);
    }
  }
}

struct SplitAndShuffle {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t* output, LaneMask mask) const {
    const std::uint32_t lane = thread.lane();
    const auto group = thread.warp().partition((mask >> lane & 1) != 0);
    std::uint64_t* mine = output + thread.rank_in_grid() * 5;
    mine[0] = group.shfl(lane + 100, group.num_threads() - 1 - group.thread_rank());
    mine[1] = group.shfl_lane(lane + 200, group.leader_lane());
    mine[2] = group.broadcast((std::uint64_t{lane} << 40) + 7);
    mine[3] = static_cast<std::uint64_t>(group.shfl(static_cast<float>(lane) * 0.5f, group.thread_rank()) * 2);
    mine[4] = group.shfl_lane(lane, group.leader_lane() + warp_size);  // the source is taken modulo the warp
  }
};

TEST_P(Conformance, ShufflesByRankAndByLane) {
  for (const LaneMask mask : masks) {
    const auto seen = run<std::uint64_t>({1, 32}, 5, SplitAndShuffle{}, mask);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const LaneMask side = side_of(mask, lane);
      std::vector<std::uint32_t> members;
      for (std::uint32_t other = 0; other < 32; ++other) {
        if ((side >> other & 1) != 0) members.push_back(other);
      }
      const std::uint32_t rank = popcount(side & below(lane));
      const std::uint64_t* mine = &seen[lane * 5];
      EXPECT_EQ(mine[0], members[members.size() - 1 - rank] + 100);
      EXPECT_EQ(mine[1], members[0] + 200);
      EXPECT_EQ(mine[2], (std::uint64_t{members[0]} << 40) + 7);
      EXPECT_EQ(mine[3], lane);
      EXPECT_EQ(mine[4], members[0]);
    }
  }
}

struct SplitAndMatch {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, LaneMask mask) const {
    const std::uint32_t lane = thread.lane();
    const auto group = thread.warp().partition((mask >> lane & 1) != 0);
    std::uint32_t* mine = output + lane * 3;
    mine[0] = group.match_any(lane / 5 % 3).mask();
    mine[1] = group.match_any((std::uint64_t{lane % 4} << 33) + 1).mask();
    // A group from match_any behaves like any other group.
    mine[2] = group.match_any(lane % 7).reduce_add(1);
  }
};

TEST_P(Conformance, MatchAnyFindsEqualKeys) {
  for (const LaneMask mask : masks) {
    const auto seen = run({1, 32}, 3, SplitAndMatch{}, mask);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      LaneMask by_fives = 0;
      LaneMask by_fours = 0;
      std::uint32_t by_sevens = 0;
      for (std::uint32_t other = 0; other < 32; ++other) {
        if ((side_of(mask, lane) >> other & 1) == 0) continue;
        if (other / 5 % 3 == lane / 5 % 3) by_fives |= LaneMask{1} << other;
        if (other % 4 == lane % 4) by_fours |= LaneMask{1} << other;
        if (other % 7 == lane % 7) ++by_sevens;
      }
      EXPECT_EQ(seen[lane * 3], by_fives);
      EXPECT_EQ(seen[lane * 3 + 1], by_fours);
      EXPECT_EQ(seen[lane * 3 + 2], by_sevens);
    }
  }
}

struct SplitAndReduce {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t* output, LaneMask mask) const {
    const std::uint32_t lane = thread.lane();
    const auto group = thread.warp().partition((mask >> lane & 1) != 0);
    std::uint64_t* mine = output + lane * 5;
    mine[0] = group.reduce_add(lane * lane + 1);
    mine[1] = group.reduce_max((lane * 7) % 32);
    mine[2] = group.exclusive_sum(lane + 1);
    mine[3] = group.exclusive_sum((std::uint64_t{lane} << 34) + lane);
    mine[4] = group.exclusive_sum(0x40000000u);  // the sum wraps around in the fifth member
  }
};

TEST_P(Conformance, ReductionsAndExclusiveSums) {
  for (const LaneMask mask : masks) {
    const auto seen = run<std::uint64_t>({1, 32}, 5, SplitAndReduce{}, mask);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      std::uint64_t sum = 0;
      std::uint64_t maximum = 0;
      std::uint64_t sum_below = 0;
      std::uint64_t wide_below = 0;
      std::uint32_t wrapped_below = 0;
      for (std::uint32_t other = 0; other < 32; ++other) {
        if ((side_of(mask, lane) >> other & 1) == 0) continue;
        sum += other * other + 1;
        maximum = std::max<std::uint64_t>(maximum, other * 7 % 32);
        if (other >= lane) continue;
        sum_below += other + 1;
        wide_below += (std::uint64_t{other} << 34) + other;
        wrapped_below += 0x40000000u;
      }
      const std::uint64_t* mine = &seen[lane * 5];
      EXPECT_EQ(mine[0], sum);
      EXPECT_EQ(mine[1], maximum);
      EXPECT_EQ(mine[2], sum_below);
      EXPECT_EQ(mine[3], wide_below);
      EXPECT_EQ(mine[4], wrapped_below);
    }
  }
}

struct WholeWarp {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, std::uint32_t exit_every) const {
    if (exit_every != 0 && thread.lane() % exit_every == 0) return;
    const auto warp = thread.warp();
    std::uint32_t* mine = output + thread.rank_in_grid() * 3;
    mine[0] = warp.ballot(true);
    mine[1] = warp.reduce_add(thread.rank_in_block());
    mine[2] = warp.exclusive_sum(1u);
  }
};

TEST_P(Conformance, PartialLastWarp) {
  const auto seen = run({3, 40}, 3, WholeWarp{}, 0u);
  for (std::uint32_t thread = 0; thread < 120; ++thread) {
    const std::uint32_t rank = thread % 40;
    EXPECT_EQ(seen[thread * 3], rank < 32 ? full_warp : 0xffu);
    EXPECT_EQ(seen[thread * 3 + 1], rank < 32 ? 496u : 284u);
    EXPECT_EQ(seen[thread * 3 + 2], rank % 32);
  }
}

TEST_P(Conformance, ExitedLanesDoNotBlockTheOthers) {
  const auto seen = run({2, 64}, 3, WholeWarp{}, 2u);
  for (std::uint32_t thread = 0; thread < 128; ++thread) {
    const bool exited = thread % 2 == 0;
    EXPECT_EQ(seen[thread * 3], exited ? 0u : 0xaaaaaaaau);
    EXPECT_EQ(seen[thread * 3 + 2], exited ? 0u : thread % 32 / 2);
  }
}

struct NestedBranches {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output) const {
    const std::uint32_t lane = thread.lane();
    const auto warp = thread.warp();
    std::uint32_t seen = 0;
    const auto outer = warp.partition(lane < 20);
    if (lane < 20) {
      const auto inner = outer.partition(lane % 2 == 0);
      if (lane % 2 == 0) {
        seen = inner.ballot(true);
      } else {
        for (std::uint32_t round = 0; round < lane; round += 19) seen = inner.reduce_add(1);
      }
      seen += outer.ballot(lane % 2 == 0);
    } else {
      seen = outer.reduce_max(lane);
    }
    output[lane] = seen + warp.reduce_add(1);
  }
};

TEST_P(Conformance, NestedDivergence) {
  const auto seen = run({1, 32}, 1, NestedBranches{});
  const LaneMask even = 0x55555u;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t expected = lane >= 20 ? 31 + 32 : (lane % 2 == 0 ? even : 10u) + even + 32;
    EXPECT_EQ(seen[lane], expected) << lane;
  }
}

// In AggregatedTickets a thread takes rank % 7 + 1 tickets, with one atomic per opportunistic group. So lanes leave the
// loop in different rounds.
struct AggregatedTickets {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, std::uint32_t* counter) const {
    for (std::uint32_t round = 0; round <= thread.rank_in_block() % 7; ++round) {
      const auto group = thread.converged();
      if ((group.mask() >> thread.lane() & 1) == 0) thread.trap();
      std::uint32_t first = 0;
      if (group.leader()) first = thread.atomic(*counter).fetch_add(group.num_threads(), relaxed);
      const std::uint32_t ticket = group.broadcast(first) + group.thread_rank();
      thread.atomic(output[ticket]).fetch_add(1u, relaxed);
    }
  }
};

TEST_P(Conformance, AnyConvergedGroupGivesDistinctTickets) {
  auto counter = zeros<std::uint32_t>(1);
  const auto taken = run({4, 70}, 7, AggregatedTickets{}, counter.data());
  std::uint32_t expected = 0;
  for (std::uint32_t rank = 0; rank < 70; ++rank) expected += 4 * (rank % 7 + 1);
  EXPECT_EQ(counter.to_host(stream())[0], expected);
  for (std::uint32_t ticket = 0; ticket < expected; ++ticket) EXPECT_EQ(taken[ticket], 1u) << ticket;
}

// A few lanes of each warp have work in a loop, and the others may go on without them. Then all lanes take tickets in
// groups, whose leaders fetch them in several steps. So lanes of two groups can be at the same collective with
// different masks. A lane that has no ticket after many rounds leaves, so the kernel ends in any case.
struct TicketsOfDriftingLanes {
  static constexpr std::uint32_t most_rounds = 10000;

  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* taken, LaneMask busy, std::uint32_t key,
                          std::uint32_t* words) const {
    if ((busy >> thread.lane() & 1) != 0) {
      for (int i = 0; i < 3; ++i) add(thread, words[1], 1);
    }
    const auto group = thread.converged().apart().match_any(key);
    const std::uint32_t lanes = group.num_threads();
    const std::uint32_t rank = group.thread_rank();
    std::uint32_t ticket = none;
    std::uint32_t rounds = 0;
    for (std::uint32_t served = 0; served < lanes;) {
      if (++rounds > most_rounds) return;
      std::uint32_t first = 0;
      std::uint32_t count = 0;
      if (group.leader()) {
        count = lanes - served < 11 ? lanes - served : 11;
        first = add(thread, words[0], count);
      }
      first = group.broadcast(first);
      count = group.broadcast(count);
      if (rank - served < count) ticket = first + rank - served;
      served += count;
    }
    group.sync();
    if (ticket < thread.grid_size()) thread.atomic(taken[ticket]).fetch_add(1u, relaxed);
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;

  template <class Thread>
  static SIMT_FN std::uint32_t add(Thread& thread, std::uint32_t& word, std::uint32_t count) {
    std::uint32_t before = thread.atomic(word).load(relaxed);
    while (!thread.atomic(word).compare_exchange(before, before + count, relaxed, relaxed)) thread.probe(Step::retry);
    return before;
  }
};

TEST_P(Conformance, LanesThatDriftApartMeetOnlyTheirOwnGroup) {
#if SIMT_CUDA
  const LaunchShape shape{264, 256};
#else
  const LaunchShape shape{2, 64};
#endif
  for (const LaneMask busy : {0x1u, 0x10001u, 0x80000000u, 0x55555555u}) {
    auto words = zeros<std::uint32_t>(2);
    const auto taken = run(shape, 1, TicketsOfDriftingLanes{}, busy, 4u, words.data());
    const auto once = static_cast<std::size_t>(std::count(taken.begin(), taken.end(), 1u));
    EXPECT_EQ(once, taken.size()) << "busy lanes " << busy;
  }
}

}  // namespace simt::conformance
