// These tests check that the CPU executor reports each undefined use of a warp operation immediately, with a headline
// and the table of the warp.
#include "tests/simt/fault_helpers.hpp"

namespace simt::faults {
namespace {

// In OtherOperation, all lanes name the full mask, but half of the lanes call another operation.
struct OtherOperation {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    if (thread.lane() < 16) {
      thread.warp().ballot(true);
    } else {
      thread.warp().sync();
    }
  }
};

TEST(MaskFault, OtherOperationByALaneOfTheMask) {
  expect_fault({1, 32}, OtherOperation{}, FaultKind::mask_error,
               {"waits in another operation", "neither can complete", "lane  state", "ballot", "sync", "0xffffffff",
                "mask_fault_test.cpp:"});
}

struct ForeignMask {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    Lane& lane = thread.executor_lane();
    const Group low(lane, 0x0000ffffu);
    const Group all(lane, full_warp);
    (thread.lane() < 8 ? low : all).ballot(true);
  }
};

TEST(MaskFault, ForeignMask) {
  expect_fault({1, 32}, ForeignMask{}, FaultKind::mask_error,
               {"with a foreign mask", "0x0000ffff", "0xffffffff", "all lanes of a mask must name the same mask"});
}

struct CallerOutside {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    if (thread.lane() == 7) Group(thread.executor_lane(), 0x0000000fu).any(true);
  }
};

TEST(MaskFault, CallerIsNotInItsMask) {
  expect_fault({1, 32}, CallerOutside{}, FaultKind::mask_error,
               {"lane 7 of block 0, warp 0 calls any(mask 0x0000000f)", "the caller is not in its mask"});
}

struct TwoCallSites {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* sum) const {
    if (thread.lane() % 2 == 0) {
      thread.atomic(*sum).fetch_add(thread.warp().ballot(true), relaxed);
    } else {
      thread.atomic(*sum).fetch_sub(thread.warp().ballot(true), relaxed);
    }
  }
};

TEST(MaskFault, VotesFromDifferentCallSites) {
  expect_fault({1, 32}, TwoCallSites{}, FaultKind::mask_error,
               {"made the call at another place", "only sync may be reached from different call sites"});
}

struct SyncFromTwoSites {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    if (thread.lane() % 2 == 0) {
      thread.warp().sync();
    } else {
      thread.warp().sync();
    }
  }
};

TEST(MaskFault, SyncMayBeReachedFromDifferentCallSites) {
  for (const ExecutorOptions& options : all_modes()) {
    EXPECT_FALSE(outcome_of(options, {1, 32}, SyncFromTwoSites{}).faulted);
  }
}

struct ShuffleFrom {
  std::uint32_t source;
  std::uint32_t exiting;

  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    if (thread.lane() == exiting) return;
    thread.warp().shfl_lane(1u, source);
  }
};

TEST(MaskFault, ShuffleFromAnExitedLane) {
  expect_fault({1, 32}, ShuffleFrom{9, 9}, FaultKind::mask_error,
               {"from lane 9, which has exited: the value is undefined", "   9  exited"});
}

TEST(MaskFault, ShuffleFromAnAbsentLane) {
  expect_fault({1, 20}, ShuffleFrom{25, 99}, FaultKind::mask_error,
               {"from lane 25, which is absent from this partial warp", "  20-31 absent"});
}

struct ShuffleFromOutside {
  bool by_rank;

  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    const auto group = thread.warp().partition(thread.lane() < 4);
    if (thread.lane() >= 4) return;
    if (by_rank) {
      group.shfl(1u, 4);
    } else {
      group.shfl_lane(1u, 20);
    }
  }
};

TEST(MaskFault, ShuffleFromOutsideTheGroup) {
  expect_fault({1, 32}, ShuffleFromOutside{false}, FaultKind::mask_error, {"from lane 20, which is outside the mask"});
  expect_fault({1, 32}, ShuffleFromOutside{true}, FaultKind::mask_error, {"from a rank outside the group"});
}

struct DivergentBarrier {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    if (thread.rank_in_block() < 40) {
      thread.block_barrier();
    } else {
      thread.block_barrier();
    }
  }
};

TEST(MaskFault, DivergentBlockBarrier) {
  expect_fault({1, 64}, DivergentBarrier{}, FaultKind::mask_error,
               {"divergent block barrier: lane", "arrives at mask_fault_test.cpp:", "block_barrier"});
}

struct BarrierInsteadOfVote {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    if (thread.lane() == 3) {
      thread.block_barrier();
    } else {
      thread.warp().any(true);
    }
  }
};

TEST(MaskFault, BlockBarrierInsteadOfAGroupOperation) {
  expect_fault({1, 32}, BarrierInsteadOfVote{}, FaultKind::mask_error, {"block barrier", "neither can go on"});
}

// FullMaskInBranch has the shape of mallocMC#145 and kokkos#1612: a full mask in code that only some lanes reach, while
// the others spin.
struct FullMaskInBranch {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* flag) const {
    if (thread.lane() < 4) {
      thread.warp().sync();
      thread.atomic(*flag).store(1u, release);
    } else {
      while (thread.atomic(*flag).load(acquire) == 0) thread.spin_hint();
    }
  }
};

TEST(MaskFault, FullMaskInDivergentCode) {
  expect_fault({1, 32}, FullMaskInBranch{}, FaultKind::livelock, {"spinning", "waiting", "sync", "= 0x0"});
}

}  // namespace
}  // namespace simt::faults
