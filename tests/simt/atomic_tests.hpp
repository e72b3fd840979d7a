// Conformance of atomic words: these tests cover every operation in both widths, wrap-around, contention, and the
// progress of waiting lanes.
#pragma once

#include "tests/simt/conformance.hpp"

namespace simt::conformance {

// EveryOperation writes the results and effects of each operation on one word without contention.
template <class T>
struct EveryOperation {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, T* output, T* word) const {
    const T top = static_cast<T>(~T{0});
    const auto atomic = thread.atomic(*word);
    std::uint32_t next = 0;
    const auto record = [&](T value) { output[next++] = value; };
    atomic.store(top, release);
    record(atomic.fetch_add(2, relaxed));
    record(atomic.load(acquire));
    record(atomic.fetch_sub(3, acq_rel));
    record(atomic.exchange(12, acquire));
    record(atomic.fetch_or(3, release));
    record(atomic.fetch_and(9, relaxed));
    record(atomic.fetch_xor(1, relaxed));
    record(atomic.fetch_max(5, relaxed));
    record(atomic.fetch_max(top, relaxed));
    record(atomic.fetch_min(40, relaxed));
    record(atomic.fetch_min(41, relaxed));
    T expected = 39;
    record(atomic.compare_exchange(expected, T{50}, acq_rel, relaxed));
    record(expected);
    record(atomic.compare_exchange(expected, T{50}, acq_rel, acquire));
    record(expected);
    record(atomic.load(relaxed));
  }
};

template <class T>
std::vector<T> every_operation_expected() {
  const T top = static_cast<T>(~T{0});
  return {top, 1, 1, static_cast<T>(top - 1), 12, 15, 9, 8, 8, top, 40, 0, 40, 1, 40, 50};
}

TEST_P(Conformance, EveryAtomicOperationOn32Bits) {
  auto word = zeros<std::uint32_t>(1);
  EXPECT_EQ(run({1, 1}, 16, EveryOperation<std::uint32_t>{}, word.data()), every_operation_expected<std::uint32_t>());
}

TEST_P(Conformance, EveryAtomicOperationOn64Bits) {
  auto word = zeros<std::uint64_t>(1);
  EXPECT_EQ(run<std::uint64_t>({1, 1}, 16, EveryOperation<std::uint64_t>{}, word.data()),
            every_operation_expected<std::uint64_t>());
}

struct EveryOperationShared {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t* output) const {
    auto* words = thread.template shared<std::uint64_t>(2);
    const auto atomic = thread.atomic_shared(words[1]);
    atomic.store(5, relaxed);
    output[0] = atomic.fetch_add(std::uint64_t{1} << 40, relaxed);
    output[1] = atomic.exchange(3, acq_rel);
    std::uint64_t expected = 3;
    output[2] = atomic.compare_exchange(expected, std::uint64_t{9}, acq_rel, relaxed);
    output[3] = atomic.load(acquire);
  }
};

TEST_P(Conformance, SharedAtomicOperations) {
  EXPECT_EQ(run<std::uint64_t>({1, 1, 16}, 4, EveryOperationShared{}),
            (std::vector<std::uint64_t>{5, (std::uint64_t{1} << 40) + 5, 1, 9}));
}

struct Contention {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* words, std::uint64_t* wide) const {
    const std::uint32_t rank = thread.rank_in_grid();
    for (std::uint32_t i = 0; i < 10; ++i) {
      thread.atomic(words[0]).fetch_add(0x10000001u, relaxed);
      auto exchanged = thread.atomic(words[1]);
      std::uint32_t expected = exchanged.load(relaxed);
      while (!exchanged.compare_exchange(expected, expected + 3, relaxed, relaxed)) {
      }
      thread.atomic(wide[0]).fetch_sub(std::uint64_t{1} << 33, relaxed);
    }
    thread.atomic(words[2]).fetch_max(rank, relaxed);
    thread.atomic(words[3]).fetch_min(~rank, relaxed);
    thread.atomic(words[4 + rank / 32]).fetch_or(1u << rank % 32, relaxed);
    thread.atomic(words[4 + rank / 32]).fetch_xor(rank % 2 == 0 ? 0 : 1u << rank % 32, relaxed);
  }
};

TEST_P(Conformance, ContendedAtomicsLoseNothing) {
  constexpr std::uint32_t threads = 5 * 96;
  auto words = zeros<std::uint32_t>(4 + threads / 32);
  auto wide = zeros<std::uint64_t>(1);
  launch(stream(), {5, 96}, Contention{}, words.data(), wide.data());
  const auto seen = words.to_host(stream());
  EXPECT_EQ(seen[0], threads * 10 * 0x10000001u);
  EXPECT_EQ(seen[1], threads * 30);
  EXPECT_EQ(seen[2], threads - 1);
  EXPECT_EQ(seen[3], 0u);
  for (std::uint32_t i = 4; i < seen.size(); ++i) EXPECT_EQ(seen[i], 0x55555555u);
  EXPECT_EQ(wide.to_host(stream())[0], std::uint64_t{0} - threads * 10 * (std::uint64_t{1} << 33));
}

// PassMessage passes a message between two lanes of one warp. It needs independent progress and release/acquire.
struct PassMessage {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, std::uint32_t* flag, std::uint32_t* message) const {
    if (thread.lane() == 5) {
      *message = 42;
      thread.atomic(*flag).store(1u, release);
    } else if (thread.lane() == 3) {
      while (thread.atomic(*flag).load(acquire) == 0) thread.spin_hint();
      output[0] = *message;
    }
  }
};

TEST_P(Conformance, LanesOfOneWarpWaitForEachOther) {
  auto flag = zeros<std::uint32_t>(1);
  auto message = zeros<std::uint32_t>(1);
  EXPECT_EQ(run({1, 32}, 1, PassMessage{}, flag.data(), message.data())[0], 42u);
}

// SpinLock is a spin lock without a hint. A lane holds it for several steps while all lanes contend.
struct SpinLock {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* lock, std::uint32_t* guarded) const {
    for (bool done = false; !done;) {
      if (thread.atomic(*lock).exchange(1u, acquire) == 0) {
        guarded[0] += 1;
        guarded[1] += guarded[0];
        thread.atomic(*lock).store(0u, release);
        done = true;
      }
    }
  }
};

TEST_P(Conformance, SpinLockWithoutHint) {
  auto lock = zeros<std::uint32_t>(1);
  auto guarded = zeros<std::uint32_t>(2);
  launch(stream(), {2, 64}, SpinLock{}, lock.data(), guarded.data());
  EXPECT_EQ(guarded.to_host(stream()), (std::vector<std::uint32_t>{128, 128 * 129 / 2}));
}

}  // namespace simt::conformance
