// These tests check that a restarted device does the same as a new device.
#include "tests/simt/search_helpers.hpp"

namespace simt::faults {
namespace {

// The steps of Everything depend on state that an earlier run could have changed: addresses, fresh and shared memory,
// the device heap, and the SM.
struct Everything {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    const auto chance = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(words) >> 12) + thread.sm() +
                        thread.template shared<std::uint32_t>(4)[thread.lane() % 4] + words[thread.lane()] % 3;
    for (std::uint32_t i = 0; i < 2 + chance % 3; ++i) {
      const auto group = thread.converged();
      if (group.leader()) thread.atomic(words[group.num_threads()]).fetch_add(chance, relaxed);
      void* block = thread.device_heap().malloc(16 + thread.lane());
      if ((reinterpret_cast<std::uintptr_t>(block) >> 5) % 2 == 0) thread.spin_hint();
      if (i % 2 == 0) thread.device_heap().free(block);
    }
  }
};

std::vector<std::uint64_t> hashes_of_run(Device& device) {
  Stream stream(device);
  std::vector<std::uint64_t> hashes;
  Buffer<std::uint32_t> words(256);
  for (int i = 0; i < 2; ++i) {
    launch(stream, {3, 40, 16}, Everything{}, words.data());
    hashes.push_back(device.last_launch().hash);
  }
  Buffer<std::uint32_t> more(30'000);
  launch(stream, {1, 33, 16}, Everything{}, more.data());
  hashes.push_back(device.hash());
  return hashes;
}

ExecutorOptions options_of(std::uint64_t seed) {
  ExecutorOptions options = searching(StrategyKind::swarm, seed);
  options.device_heap_bytes = std::size_t{1} << (15 + seed % 2);
  options.resident_blocks = 1 + static_cast<std::uint32_t>(seed % 3);
  options.sm_count = 2 + static_cast<std::uint32_t>(seed % 4);
  return options;
}

TEST(Restart, RepeatsANewDevice) {
  constexpr std::uint64_t seeds = 30;
  std::vector<std::vector<std::uint64_t>> of_new;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Device device(options_of(seed));
    of_new.push_back(hashes_of_run(device));
  }
  Device device(options_of(99));
  hashes_of_run(device);
  for (std::uint64_t seed = seeds; seed > 0; --seed) {
    // This launch ends with a fault.
    if (seed % 4 == 0) outcome_on(device, options_of(seed), {1, 64}, zoo::LostUpdate{});
    device.restart(options_of(seed));
    EXPECT_EQ(device.hash(), 0u);
    EXPECT_EQ(hashes_of_run(device), of_new[seed - 1]) << "seed " << seed;
  }
}

TEST(Restart, GivesTheSameAddresses) {
  const auto addresses = [](std::uint64_t seed) {
    static Device device(deterministic(1));
    device.restart(deterministic(seed));
    const Buffer<std::byte> small(100);
    const Buffer<std::byte> large(std::size_t{1} << 20);
    const Buffer<std::byte> middle(70'000);
    return std::vector<const void*>{small.data(), large.data(), device.executor().device_heap().malloc(1),
                                    middle.data()};
  };
  const auto first = addresses(1);
  for (std::uint64_t seed = 2; seed < 6; ++seed) EXPECT_EQ(addresses(seed), first);
}

TEST(Restart, NeedsTheDeterministicMode) {
  Device device(deterministic(1));
  EXPECT_THROW(device.restart(ExecutorOptions{}), Fault);
  Device threads(0);
  EXPECT_THROW(threads.restart(deterministic(1)), Fault);
}

}  // namespace
}  // namespace simt::faults
