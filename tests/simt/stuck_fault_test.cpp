// These tests run launches that never end (deadlock, livelock, step budget), launches that an exception or a trap ends,
// and launches that only seem never to end.
#include <stdexcept>

#include "tests/simt/fault_helpers.hpp"

namespace simt::faults {
namespace {

// In CircularWait each of three lanes calls sync() for itself and the next lane: lane 0 waits for lane 1, lane 1 for
// lane 2, and lane 2 for lane 0. No two lanes wait for each other, so the fault is a deadlock and not a mask error.
struct CircularWait {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    Lane& lane = thread.executor_lane();
    switch (thread.lane()) {
      case 0:
        return Group(lane, 0b0011).sync();
      case 1:
        return Group(lane, 0b0110).sync();
      default:
        return Group(lane, 0b0101).sync();
    }
  }
};

TEST(StuckFault, DeadlockAmongGroups) {
  expect_fault({1, 3}, CircularWait{}, FaultKind::deadlock,
               {"deadlock: all 3 live lanes of block 0", "0x00000003", "0x00000006", "0x00000005"});
}

struct SpinForever {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* flag) const {
    while (thread.atomic(*flag).load(acquire) == 0) {
    }
  }
};

TEST(StuckFault, SpinThatCanNeverEnd) {
  expect_fault({4, 33}, SpinForever{}, FaultKind::livelock,
               {"livelock: every live lane spins on words that no lane changes", "spinning", "] = 0x0",
                "stuck_fault_test.cpp:"});
}

struct LockTwice {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* lock) const {
    for (int i = 0; i < 2; ++i) {
      std::uint32_t expected = 0;
      while (!thread.atomic(*lock).compare_exchange(expected, 1u, acquire, relaxed)) {
        expected = 0;
        thread.spin_hint();
      }
    }
  }
};

TEST(StuckFault, LockThatIsNeverReleased) { expect_fault({2, 32}, LockTwice{}, FaultKind::livelock, {"] = 0x1"}); }

// GridBarrier is a grid barrier over more blocks than can be resident.
struct GridBarrier {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* arrived) const {
    thread.atomic(*arrived).fetch_add(1u, acq_rel);
    while (thread.atomic(*arrived).load(acquire) < thread.grid_size()) thread.spin_hint();
  }
};

TEST(StuckFault, SpinOnABlockThatIsNotResident) {
  for (ExecutorOptions options : all_modes()) {
    options.resident_blocks = 3;
    const Outcome enough = outcome_of(options, {3, 32}, GridBarrier{});
    EXPECT_FALSE(enough.faulted) << enough.text;
    const Outcome outcome = outcome_of(options, {5, 32}, GridBarrier{});
    ASSERT_TRUE(outcome.faulted);
    EXPECT_EQ(outcome.kind, FaultKind::livelock);
    EXPECT_NE(outcome.text.find("2 blocks cannot start"), std::string::npos) << outcome.text;
  }
}

// BoundedPoll is not a livelock, because the poll gives up by itself.
struct BoundedPoll {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* flag) const {
    for (int i = 0; i < 1000; ++i) {
      if (thread.atomic(*flag).load(relaxed) != 0) return;
    }
  }
};

TEST(StuckFault, BoundedPollIsNoLivelock) {
  for (const ExecutorOptions& options : all_modes()) {
    const Outcome outcome = outcome_of(options, {3, 40}, BoundedPoll{});
    EXPECT_FALSE(outcome.faulted) << outcome.text;
  }
}

// TwoWords is not a livelock, because the loop watches two words, and the second one changes.
struct TwoWords {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    if (thread.rank_in_grid() == 0) {
      for (int i = 0; i < 5000; ++i) thread.atomic(words[2]).fetch_add(1u, relaxed);
      thread.atomic(words[1]).store(1u, release);
    } else {
      while (thread.atomic(words[0]).load(acquire) == 0 && thread.atomic(words[1]).load(acquire) == 0) {
      }
    }
  }
};

TEST(StuckFault, ParkedLanesWakeForAnyWordOfTheirLoop) {
  for (const ExecutorOptions& options : all_modes()) {
    const Outcome outcome = outcome_of(options, {4, 32}, TwoWords{}, 3);
    EXPECT_FALSE(outcome.faulted) << outcome.text;
  }
}

struct EndlessWork {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* counter) const {
    while (true) thread.atomic(*counter).fetch_add(1u, relaxed);
  }
};

TEST(StuckFault, StepBudget) {
  for (ExecutorOptions options : all_modes()) {
    options.step_budget = 100'000;
    const Outcome outcome = outcome_of(options, {2, 32}, EndlessWork{});
    ASSERT_TRUE(outcome.faulted);
    EXPECT_EQ(outcome.kind, FaultKind::budget);
    EXPECT_NE(outcome.text.find("budget of 100000 steps"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("lane  state"), std::string::npos) << outcome.text;
  }
}

struct Throwing {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    if (thread.rank_in_grid() == 37) throw std::runtime_error("no such page");
    thread.block_barrier();
  }
};

TEST(StuckFault, EscapedException) {
  expect_fault({2, 32}, Throwing{}, FaultKind::exception,
               {"lane 5 of block 1, warp 0 threw: no such page", "lane  state"});
}

// Guard makes operations in its destructor, which is noexcept. A fault that threw there would end the process.
template <class Thread>
struct Guard {
  Thread& thread;
  std::uint32_t* words;
  ~Guard() {
    for (int i = 0; i < 100; ++i) thread.atomic(words[0]).fetch_add(1u, relaxed);
    thread.block_barrier();
    if (thread.rank_in_grid() == 37) thread.trap();
  }
};

struct FaultInDestructor {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const noexcept {
    const Guard<Thread> guard{thread, words};
    if (thread.block() == 0) thread.warp().sync();
  }
};

TEST(StuckFault, AFaultMayMeetLanesInNoexceptFunctions) {
  expect_fault({4, 32}, FaultInDestructor{}, FaultKind::device_fault, {"lane 5 of block 1, warp 0", "trap"});
}

struct Trap {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* done) const {
    if (thread.rank_in_grid() == 3) thread.trap();
    thread.atomic(*done).fetch_add(1u, relaxed);
  }
};

TEST(StuckFault, TrapIsADeviceFault) {
  expect_fault({1, 8}, Trap{}, FaultKind::device_fault, {"lane 3 of block 0, warp 0 at stuck_fault_test.cpp:", "trap"});
}

struct FreeTwice {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t*) const {
    void* block = thread.device_heap().malloc(64);
    thread.device_heap().free(block);
    thread.device_heap().free(block);
  }
};

TEST(StuckFault, SecondFreeOnTheDeviceHeap) {
  expect_fault({1, 1}, FreeTwice{}, FaultKind::device_fault, {"not a live block of the device heap"});
}

struct Increment {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* counter) const {
    thread.atomic(*counter).fetch_add(1u, relaxed);
    thread.block_barrier();
  }
};

TEST(StuckFault, TheDeviceWorksAfterAFault) {
  for (const ExecutorOptions& options : all_modes()) {
    Device device(options);
    Stream stream(device);
    Buffer<std::uint32_t> counter(1);
    for (std::uint32_t round = 0; round < 3; ++round) {
      counter.fill_bytes(stream, 0);
      EXPECT_THROW(launch(stream, {5, 64}, SpinForever{}, counter.data()), Fault);
      EXPECT_THROW(launch(stream, {5, 64}, Throwing{}, counter.data()), Fault);
      counter.fill_bytes(stream, 0);
      launch(stream, {5, 64}, Increment{}, counter.data());
      EXPECT_EQ(counter.to_host(stream)[0], 320u);
    }
  }
}

}  // namespace
}  // namespace simt::faults
