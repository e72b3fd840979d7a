// These tests check that the thread blocks of simultaneous launches mix on the CPU executor, in an order that repeats
// with the seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "simt/simt.hpp"

namespace simt {
namespace {

constexpr std::uint32_t blocks = 8;

// TakeTicket takes a ticket in each block.
struct TakeTicket {
  std::uint32_t kernel;

  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* next, std::uint32_t* kernels) const {
    kernels[thread.atomic(*next).fetch_add(1u, relaxed)] = kernel;
  }
};

// Meet announces its kernel and waits for the other one.
struct Meet {
  std::uint32_t own;

  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* flags, std::uint32_t*) const {
    thread.atomic(flags[own]).store(1u, release);
    while (thread.atomic(flags[1 - own]).load(acquire) == 0) thread.spin_hint();
  }
};

template <class Kernel>
void run_two(Stream& stream, std::array<Kernel, 2> kernels, LaunchShape shape, std::uint32_t* first,
             std::uint32_t* second) {
  std::array<std::array<const void*, 3>, 2> pointers;
  std::array<KernelLaunch, 2> launches;
  for (std::size_t i = 0; i < 2; ++i) {
    pointers[i] = {&kernels[i], &first, &second};
    launches[i] = {&stream, shape, kernel_pointer<Kernel, std::uint32_t*, std::uint32_t*>(), pointers[i]};
  }
  launch_kernels(launches);
}

ExecutorOptions seeded(std::uint64_t seed, std::uint32_t resident) {
  ExecutorOptions options;
  options.mode = ExecutorMode::deterministic;
  options.seed = seed;
  options.resident_blocks = resident;
  return options;
}

// Returns the order in which blocks start. Only one block runs at a time.
std::vector<std::uint32_t> order_of(std::uint64_t seed) {
  Device device(seeded(seed, 1));
  Stream stream(device);
  Buffer<std::uint32_t> next(1);
  Buffer<std::uint32_t> kernels(2 * blocks);
  next.fill_bytes(stream, 0);
  run_two(stream, std::array{TakeTicket{0}, TakeTicket{1}}, {.blocks = blocks}, next.data(), kernels.data());
  return kernels.to_host(stream);
}

TEST(Together, BlocksOfTwoLaunchesStartInASeededOrder) {
  std::vector<std::uint32_t> switches;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<std::uint32_t> order = order_of(seed);
    EXPECT_EQ(order, order_of(seed));
    EXPECT_EQ(std::count(order.begin(), order.end(), 1u), blocks);
    std::uint32_t changes = 0;
    for (std::size_t i = 1; i < order.size(); ++i) changes += order[i] != order[i - 1];
    switches.push_back(changes);
  }
  EXPECT_NE(order_of(1), order_of(2));
  // If one kernel ran after the other, the order would change once.
  EXPECT_GT(*std::min_element(switches.begin(), switches.end()), 1u);
}

TEST(Together, KernelsThatAreBothResidentMeet) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Device device(seeded(seed, 2));
    Stream stream(device);
    Buffer<std::uint32_t> flags(2);
    flags.fill_bytes(stream, 0);
    EXPECT_NO_THROW(run_two(stream, std::array{Meet{0}, Meet{1}}, {}, flags.data(), flags.data()));
  }
}

TEST(Together, OneThatWaitsForABlockThatCannotStartIsALivelock) {
  Device device(seeded(1, 1));
  Stream stream(device);
  Buffer<std::uint32_t> flags(2);
  flags.fill_bytes(stream, 0);
  try {
    run_two(stream, std::array{Meet{0}, Meet{1}}, {}, flags.data(), flags.data());
    FAIL() << "one of them cannot have met the other";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::livelock) << fault.what();
  }
}

TEST(Together, BlocksOfDifferentShapesAreRefused) {
  Device device(seeded(1, 2));
  Stream stream(device);
  const TakeTicket kernel{0};
  std::uint32_t* word = nullptr;
  const std::array<const void*, 3> pointers{&kernel, &word, &word};
  const KernelPointer entry = kernel_pointer<TakeTicket, std::uint32_t*, std::uint32_t*>();
  const std::array<KernelLaunch, 2> launches{KernelLaunch{&stream, {.threads_per_block = 32}, entry, pointers},
                                             KernelLaunch{&stream, {.threads_per_block = 64}, entry, pointers}};
  EXPECT_THROW(launch_kernels(launches), Fault);
}

}  // namespace
}  // namespace simt
