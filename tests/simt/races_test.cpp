// These tests check that the race build (ThreadSanitizer) reports a missing order between two lanes under any schedule,
// with both places in the code. Accesses that the vocabulary promises to order give no report.
#include <gtest/gtest.h>

#include <string>

#include "tests/simt/races_rig.hpp"

namespace simt {
namespace {

using test::deterministic;
using test::races_of;

constexpr std::uint64_t last_seed = 50;

std::string pair_text(std::string place, std::string other) {
  if (other < place) std::swap(place, other);
  return place + " and " + other;
}

std::string pair_text(int line, int other_line) {
  const auto place = [](int at) { return "races_test.cpp:" + std::to_string(at); };
  return pair_text(place(line), place(other_line));
}

// Expects that each seed reports the race between these two lines and no other race.
template <class Kernel>
void expect_race(LaunchShape shape, Kernel kernel, int line, int other_line) {
  for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RaceReport report = races_of(deterministic(seed), shape, kernel);
    ASSERT_FALSE(report.clean());
    for (const Race& race : report.races) {
      EXPECT_EQ(race.kind, "data-race");
      ASSERT_EQ(race.accesses.size(), 2u);
      EXPECT_EQ(pair_text(race.accesses[0].place(), race.accesses[1].place()), pair_text(line, other_line))
          << race.text();
    }
  }
}

template <class Kernel>
void expect_clean(LaunchShape shape, Kernel kernel) {
  for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RaceReport report = races_of(deterministic(seed), shape, kernel);
    ASSERT_TRUE(report.clean()) << report.text();
  }
}

// In Publish, lane 0 writes words[1] and raises words[0]. Lane 1 waits for words[0] and reads words[1].
template <class Store, class Load>
struct Publish {
  static constexpr int write_line = __LINE__ + 5;
  static constexpr int read_line = __LINE__ + 8;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    if (thread.lane() == 0) {
      words[1] = 42;
      thread.atomic(words[0]).store(1u, Store{});
    } else {
      while (thread.atomic(words[0]).load(Load{}) == 0) thread.spin_hint();
      words[2] = words[1] + 1;
    }
  }
};

TEST(Races, RelaxedPublicationIsReported) {
  using Kernel = Publish<Relaxed, Relaxed>;
  expect_race({1, 2}, Kernel{}, Kernel::write_line, Kernel::read_line);
}

TEST(Races, ReleaseWithoutAcquireIsReported) {
  using Kernel = Publish<Release, Relaxed>;
  expect_race({1, 2}, Kernel{}, Kernel::write_line, Kernel::read_line);
}

TEST(Races, ReleaseAndAcquirePublish) { expect_clean({1, 2}, Publish<Release, Acquire>{}); }

TEST(Races, AReportNamesLanesAddressesAndPlaces) {
  using Kernel = Publish<Relaxed, Relaxed>;
  const RaceReport report = races_of(deterministic(1), {1, 2}, Kernel{});
  ASSERT_EQ(report.races.size(), 1u);
  const Race& race = report.races[0];
  EXPECT_EQ(race.times, 1u);
  const RaceAccess& read = race.accesses[0];
  const RaceAccess& write = race.accesses[1];
  EXPECT_EQ(read.thread, "lane 1 of block 0, warp 0");
  EXPECT_EQ(write.thread, "lane 0 of block 0, warp 0");
  EXPECT_FALSE(read.write);
  EXPECT_TRUE(write.write);
  EXPECT_EQ(read.address, write.address);
  EXPECT_EQ(read.bytes, 4u);
  ASSERT_EQ(read.stack.size(), 1u);
  EXPECT_EQ(read.stack[0].line, static_cast<std::uint32_t>(Kernel::read_line));
  EXPECT_NE(report.text().find("data-race on 4 bytes at 0x"), std::string::npos) << report.text();
  EXPECT_TRUE(take_race_reports().clean()) << "reports are taken once";
}

struct PlainIncrement {
  static constexpr int line = __LINE__ + 3;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    words[thread.rank_in_block()] += 1;
  }
};

TEST(Races, LanesOfTwoBlocksAreReported) {
  expect_race({2, 1}, PlainIncrement{}, PlainIncrement::line, PlainIncrement::line);
}

// MixedAccess uses a word as an atomic in one place and as a plain word in another.
struct MixedAccess {
  static constexpr int atomic_line = __LINE__ + 5;
  static constexpr int plain_line = __LINE__ + 6;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    if (thread.lane() == 0) {
      thread.atomic(words[1]).fetch_add(1u, acq_rel);
    } else {
      words[1] = 7;
    }
  }
};

TEST(Races, PlainAccessToAnAtomicWordIsReported) {
  expect_race({1, 2}, MixedAccess{}, MixedAccess::atomic_line, MixedAccess::plain_line);
}

// In HandOver, even lanes write to a block of 4 words each and push it. Odd lanes pop a block and write to it. The top
// word has a generation (against ABA) and the index of a block.
template <class Success, class Failure>
struct HandOver {
  static constexpr int giver_line = __LINE__ + 6;
  static constexpr int taker_line = __LINE__ + 9;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    std::uint32_t block = 1 + thread.lane();
    if (thread.lane() % 2 == 0) {
      words[4 * block + 1] = 1;
      push(thread, words, block);
    } else {
      while ((block = pop(thread, words)) == 0) thread.spin_hint();
      words[4 * block + 1] = 2;
    }
  }
  template <class Thread>
  std::uint32_t pop(Thread& thread, std::uint32_t* words) const {
    std::uint32_t top = thread.atomic(words[0]).load(Failure{});
    while (top % 256 != 0) {
      const std::uint32_t next = thread.atomic(words[4 * (top % 256)]).load(relaxed);
      if (thread.atomic(words[0]).compare_exchange(top, (top / 256 + 1) * 256 + next, Success{}, Failure{})) break;
    }
    return top % 256;
  }
  template <class Thread>
  void push(Thread& thread, std::uint32_t* words, std::uint32_t block) const {
    std::uint32_t top = thread.atomic(words[0]).load(Failure{});
    do {
      thread.atomic(words[4 * block]).store(top % 256, relaxed);
    } while (!thread.atomic(words[0]).compare_exchange(top, (top / 256 + 1) * 256 + block, Success{}, Failure{}));
  }
};

TEST(Races, BlockHandedOverThroughARelaxedStackIsReported) {
  using Kernel = HandOver<Relaxed, Relaxed>;
  expect_race({1, 8}, Kernel{}, Kernel::giver_line, Kernel::taker_line);
}

TEST(Races, BlockHandedOverWithAcquireAndReleaseIsClean) { expect_clean({1, 8}, HandOver<AcqRel, Acquire>{}); }

// In WriteMeetRead, every lane writes its word, meets the others, and reads the word of its neighbour.
template <class Meet>
struct WriteMeetRead {
  static constexpr int write_line = __LINE__ + 4;
  static constexpr int read_line = __LINE__ + 5;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    words[thread.rank_in_block()] = 1;
    Meet{}(thread);
    const std::uint32_t seen = words[(thread.rank_in_block() + 1) % thread.block_size()];
    thread.atomic(words[63]).fetch_add(seen, relaxed);
  }
};

struct Sync {
  template <class Thread>
  void operator()(Thread& thread) const {
    thread.warp().sync();
  }
};
struct Barrier {
  template <class Thread>
  void operator()(Thread& thread) const {
    thread.block_barrier();
  }
};
struct Shuffle {
  template <class Thread>
  void operator()(Thread& thread) const {
    thread.warp().shfl(1u, 0);
  }
};
struct Ballot {
  template <class Thread>
  void operator()(Thread& thread) const {
    thread.warp().ballot(true);
  }
};
struct MatchAndReduce {
  template <class Thread>
  void operator()(Thread& thread) const {
    thread.warp().match_any(1u).reduce_add(1);
    thread.warp().exclusive_sum(1u);
  }
};
struct Converge {
  template <class Thread>
  void operator()(Thread& thread) const {
    thread.converged();
  }
};

template <class Meet>
void expect_meeting_races() {
  using Kernel = WriteMeetRead<Meet>;
  expect_race({1, 3}, Kernel{}, Kernel::write_line, Kernel::read_line);
}

TEST(Races, WarpBarrierPublishes) { expect_clean({1, 32}, WriteMeetRead<Sync>{}); }
TEST(Races, BlockBarrierPublishes) { expect_clean({1, 50}, WriteMeetRead<Barrier>{}); }
TEST(Races, ShuffleOrdersNothing) { expect_meeting_races<Shuffle>(); }
TEST(Races, BallotOrdersNothing) { expect_meeting_races<Ballot>(); }
TEST(Races, MatchReduceAndScanOrderNothing) { expect_meeting_races<MatchAndReduce>(); }
TEST(Races, ConvergingOrdersNothing) { expect_meeting_races<Converge>(); }

// In SyncOfConverged, the barrier of a group orders the group's members, whichever lanes came together.
struct SyncOfConverged {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    const auto group = thread.converged();
    words[thread.lane()] = 1;
    group.sync();
    const std::uint32_t next = (group.thread_rank() + 1) % group.num_threads();
    thread.atomic(words[63]).fetch_add(words[group.shfl(thread.lane(), next)], relaxed);
  }
};

TEST(Races, BarrierOfAConvergedGroupPublishesToItsMembers) { expect_clean({1, 32}, SyncOfConverged{}); }

// In SyncOfOthers, lane 0 writes a word and meets lane 1. Lanes 2 and 3 meet each other. `Pass` returns whether a lane
// reads the word.
template <class Pass>
struct SyncOfOthers {
  static constexpr int write_line = __LINE__ + 5;
  static constexpr int read_line = __LINE__ + 6;
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    const auto pair = thread.warp().match_any(thread.lane() / 2);
    if (thread.lane() == 0) words[1] = 1;
    pair.sync();
    if (Pass{}(thread, words)) thread.atomic(words[63]).fetch_add(words[1], relaxed);
    pair.sync();
  }
};

struct Nothing {
  template <class Thread>
  bool operator()(Thread& thread, std::uint32_t*) const {
    return thread.lane() == 2;
  }
};
// In Broadcast, a leader passes to the whole warp what its own group has acquired.
struct Broadcast {
  template <class Thread>
  bool operator()(Thread& thread, std::uint32_t*) const {
    return thread.warp().shfl(thread.lane(), 0) == 0 && thread.lane() >= 2;
  }
};
// In ReleaseByAMember, lane 1 raises a flag after the barrier. A lane that acquires the flag sees the write of lane 0.
struct ReleaseByAMember {
  template <class Thread>
  bool operator()(Thread& thread, std::uint32_t* words) const {
    if (thread.lane() == 1) thread.atomic(words[0]).store(1u, release);
    if (thread.lane() < 2) return false;
    while (thread.atomic(words[0]).load(acquire) == 0) thread.spin_hint();
    return true;
  }
};

template <class Pass>
void expect_race_of_others() {
  using Kernel = SyncOfOthers<Pass>;
  expect_race({1, 4}, Kernel{}, Kernel::write_line, Kernel::read_line);
}

TEST(Races, BarrierOfOtherLanesOrdersNothing) { expect_race_of_others<Nothing>(); }
TEST(Races, BarrierOfOtherLanesOrdersNothingBeforeABroadcast) { expect_race_of_others<Broadcast>(); }
TEST(Races, WhatABarrierOrderedAMemberReleases) { expect_clean({1, 4}, SyncOfOthers<ReleaseByAMember>{}); }

TEST(Races, LaunchesAndTheHostOrderEachOther) {
  for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
    Device device(deterministic(seed));
    Stream stream(device);
    Buffer<std::uint32_t> words(64);
    take_race_reports();
    words.fill_bytes(stream, 0);
    for (std::uint32_t launches = 0; launches < 3; ++launches) {
      // In each launch another lane has the word.
      launch(stream, {1, 1 + launches}, PlainIncrement{}, words.data() + 2 - launches);
      EXPECT_EQ(words.to_host(stream)[2], launches + 1);
    }
    EXPECT_TRUE(take_race_reports().clean());
  }
}

// In HeapHandOver, each lane takes a block, writes to it, reads it and frees it, four times. So a lane may get a block
// that another lane has used.
struct HeapHandOver {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    for (int round = 0; round < 4; ++round) {
      auto* block = static_cast<std::uint32_t*>(thread.device_heap().malloc(64));
      for (int i = 0; i < 16; ++i) block[i] = thread.lane();
      thread.atomic(words[0]).fetch_add(block[3], relaxed);
      thread.device_heap().free(block);
    }
  }
};

TEST(Races, DeviceHeapHandsBlocksOverInOrder) { expect_clean({1, 8}, HeapHandOver{}); }

// HeapPublish shows that the device heap orders frees before allocations, but not the write of one lane to a block
// before the read of another.
struct HeapPublish {
  static constexpr int write_line = __LINE__ + 6;
  static constexpr int read_line = __LINE__ + 10;
  template <class Thread>
  void operator()(Thread& thread, std::uint64_t* words) const {
    if (thread.lane() == 0) {
      auto* block = static_cast<std::uint64_t*>(thread.device_heap().malloc(64));
      *block = 5;
      thread.atomic(words[0]).store(reinterpret_cast<std::uint64_t>(block), relaxed);
    } else {
      while (thread.atomic(words[0]).load(relaxed) == 0) thread.spin_hint();
      const auto* block = reinterpret_cast<std::uint64_t*>(thread.atomic(words[0]).load(relaxed));
      words[1] = *block;
    }
  }
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    (*this)(thread, reinterpret_cast<std::uint64_t*>(words));
  }
};

TEST(Races, RelaxedPublicationOfAHeapBlockIsReported) {
  expect_race({1, 2}, HeapPublish{}, HeapPublish::write_line, HeapPublish::read_line);
}

// Waves has more blocks than run at the same time. So later lanes use the stacks and places of earlier lanes.
struct Waves {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    std::uint32_t local[32];
    auto* shared = thread.template shared<std::uint32_t>(64);
    shared[thread.rank_in_block()] = thread.block();
    thread.block_barrier();
    for (std::uint32_t i = 0; i < 32; ++i) local[(i * 5) % 32] = shared[(thread.rank_in_block() + i) % 64] + i;
    for (std::uint32_t i = 0; i < 32; i += 8) thread.atomic(words[local[i] % 32]).fetch_add(local[i], relaxed);
  }
};

TEST(Races, LanesThatTakeOverAPlaceAreClean) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ExecutorOptions options = deterministic(seed);
    options.resident_blocks = 3;
    const RaceReport report = races_of(options, {20, 64, 256}, Waves{});
    EXPECT_TRUE(report.clean()) << report.text();
  }
}

}  // namespace
}  // namespace simt
