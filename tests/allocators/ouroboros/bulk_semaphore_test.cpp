// These tests of the bulk semaphore check grants, promises and waits by hand-made sequences, then use lanes that add
// and take units.
#include "allocators/support/common/bulk_semaphore.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/seeds.hpp"

namespace allocbench {
namespace {

simt::ExecutorOptions deterministic(std::uint64_t seed) {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  options.seed = seed;
  return options;
}

struct OneLane {
  template <class Thread, class Body>
  SIMT_FN void operator()(Thread& thread, Body body) const {
    body(thread);
  }
};

class BulkSemaphoreTest : public ::testing::Test {
 protected:
  BulkSemaphoreTest() : device_(deterministic(1)), stream_(device_), state_(1) { state_.fill_bytes(stream_, 0); }

  // Runs `body(thread, semaphore)` on one lane.
  template <class Body>
  void alone(Body body) {
    const BulkSemaphore semaphore{state_.data()};
    simt::launch(stream_, {1, 1}, OneLane{}, [=](auto& thread) { body(thread, semaphore); });
  }
  BulkSemaphore::State state() { return state_.to_host(stream_)[0]; }

  simt::Device device_;
  simt::Stream stream_;
  simt::Buffer<BulkSemaphore::State> state_;
};

TEST_F(BulkSemaphoreTest, GrantsWhatThereIs) {
  std::vector<std::uint32_t> granted(4);
  alone([out = granted.data()](auto& thread, BulkSemaphore semaphore) {
    out[0] = semaphore.take(thread, 5);
    semaphore.signal(thread, 7);
    out[1] = semaphore.take(thread, 5);
    out[2] = semaphore.take(thread, 5);
    out[3] = semaphore.take_if_any(thread, 5);
  });
  EXPECT_EQ(granted, (std::vector<std::uint32_t>{0, 5, 2, 0}));
  EXPECT_EQ(state().units, 0u);
}

TEST_F(BulkSemaphoreTest, CountsBeyondThePublishedTwentyFourBits) {
  std::vector<std::uint32_t> granted(1);
  alone([out = granted.data()](auto& thread, BulkSemaphore semaphore) {
    for (int i = 0; i < 3; ++i) semaphore.signal(thread, 0xffffffffu);
    out[0] = semaphore.take(thread, 0xfffffffeu);
  });
  EXPECT_EQ(granted[0], 0xfffffffeu);
  EXPECT_EQ(state().units, 2ull * 0xffffffffu + 1);
}

TEST_F(BulkSemaphoreTest, LetsOneOfEachBatchMakeIt) {
  std::vector<std::uint32_t> makes(6);
  alone([out = makes.data()](auto& thread, BulkSemaphore semaphore) {
    out[0] = semaphore.demand(thread, 200, 512);  // begins the first batch
    out[1] = semaphore.demand(thread, 200, 512);
    out[2] = semaphore.demand(thread, 112, 512);  // fills the first batch
    out[3] = semaphore.demand(thread, 500, 512);  // begins the second batch
    out[4] = semaphore.demand(thread, 13, 512);   // extends into the third batch
    out[5] = semaphore.demand(thread, 30, 512);
  });
  EXPECT_EQ(makes, (std::vector<std::uint32_t>{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(BulkSemaphore::demanded(state().promises), 1055u);
  EXPECT_EQ(BulkSemaphore::expected(state().promises), 0u);
}

TEST_F(BulkSemaphoreTest, ForgetsTheDemandOfThoseWhoLeave) {
  std::vector<std::uint32_t> makes(3);
  alone([out = makes.data()](auto& thread, BulkSemaphore semaphore) {
    out[0] = semaphore.demand(thread, 10, 16);
    out[1] = semaphore.demand(thread, 5, 16);
    semaphore.settle(thread, BulkSemaphore::promise(5, 0), 0);
    semaphore.settle(thread, BulkSemaphore::promise(10, 0), 0);
    out[2] = semaphore.demand(thread, 5, 16);
  });
  EXPECT_EQ(makes, (std::vector<std::uint32_t>{1, 0, 1}));
  EXPECT_EQ(BulkSemaphore::demanded(state().promises), 5u);
}

TEST_F(BulkSemaphoreTest, SettlesWithWhatWasReallyMade) {
  alone([](auto& thread, BulkSemaphore semaphore) {
    semaphore.demand(thread, 1, 41);
    semaphore.announce(thread, 40);
    semaphore.announce(thread, 50);
    semaphore.settle(thread, BulkSemaphore::promise(1, 40), 12);
    semaphore.settle(thread, BulkSemaphore::promise(0, 50), 0);  // the maker failed
  });
  EXPECT_EQ(state().units, 12u);
  EXPECT_EQ(state().promises, 0u);
}

TEST_F(BulkSemaphoreTest, DoesNotWaitForLongIfNothingIsExpected) {
  std::vector<std::uint32_t> granted(1, 7);
  alone([out = granted.data()](auto& thread, BulkSemaphore semaphore) { out[0] = semaphore.await(thread, 3); });
  EXPECT_EQ(granted[0], 0u);
  EXPECT_EQ(state().units, 0u);
}

TEST_F(BulkSemaphoreTest, EndsAWaitWithoutAnyoneToMakeUnits) {
  alone([](auto& thread, BulkSemaphore semaphore) {
    semaphore.announce(thread, 40);  // the announcement is never settled
    semaphore.await(thread, 3);
  });
  EXPECT_EQ(BulkSemaphore::expected(state().promises), 40u);
  EXPECT_EQ(state().units, 0u);
}

TEST_F(BulkSemaphoreTest, TakesWhatItWaitedFor) {
  std::vector<std::uint32_t> granted(2);
  alone([out = granted.data()](auto& thread, BulkSemaphore semaphore) {
    semaphore.signal(thread, 5);
    out[0] = semaphore.await(thread, 3);
    out[1] = semaphore.await(thread, 3);
  });
  EXPECT_EQ(granted, (std::vector<std::uint32_t>{3, 2}));
}

// In each round of MakeAndUse, every lane requests `wanted` units, makes a batch of `batch` units if it must, and
// returns what it got. A maker fails if its rank plus the number of its attempt is even. `held` counts the units that
// lanes hold, and `made` the units that exist.
struct MakeAndUse {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BulkSemaphore semaphore, std::uint32_t* words) const {
    const auto held = thread.atomic(words[0]);
    const auto made = thread.atomic(words[1]);
    const auto wrong = thread.atomic(words[2]);
    const std::uint32_t batch = 8;
    for (std::uint32_t round = 0; round < 4; ++round) {
      const std::uint32_t wanted = 1 + (thread.rank_in_grid() + round) % 5;
      std::uint32_t granted = 0;
      bool insists = false;
      for (std::uint32_t i = 0; i < 4 && granted == 0; ++i) {
        granted = semaphore.take_if_any(thread, wanted);
        if (granted != 0) break;
        if (!semaphore.demand(thread, wanted, batch) && !insists) {
          granted = semaphore.await(thread, wanted);
          semaphore.settle(thread, BulkSemaphore::promise(wanted, 0), 0);
          insists = true;
          continue;
        }
        semaphore.announce(thread, batch);
        const bool fails = (thread.rank_in_grid() + i) % 2 == 0;
        if (!fails) made.fetch_add(batch, simt::relaxed);
        semaphore.settle(thread, BulkSemaphore::promise(wanted, batch), fails ? 0 : batch);
      }
      const std::uint32_t now_held = held.fetch_add(granted, simt::relaxed) + granted;
      if (now_held > made.load(simt::relaxed)) wrong.fetch_add(1u, simt::relaxed);
      held.fetch_sub(granted, simt::relaxed);
      if (granted != 0) semaphore.signal(thread, granted);
    }
  }
};

TEST(BulkSemaphoreStress, NeverGrantsMoreThanWasMade) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    simt::Device device(deterministic(seed));
    simt::Stream stream(device);
    simt::Buffer<BulkSemaphore::State> state(1);
    state.fill_bytes(stream, 0);
    simt::Buffer<std::uint32_t> words(3);
    words.fill_bytes(stream, 0);
    simt::launch(stream, {2, 24}, MakeAndUse{}, BulkSemaphore{state.data()}, words.data());
    const std::vector<std::uint32_t> counts = words.to_host(stream);
    EXPECT_EQ(counts[2], 0u);
    EXPECT_EQ(state.to_host(stream)[0].units, counts[1]);
    EXPECT_EQ(state.to_host(stream)[0].promises, 0u);
  }
}

}  // namespace
}  // namespace allocbench
