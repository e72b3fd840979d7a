// These tests check that SlotCheck on the device accepts exactly the same slots as PointerCheck on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <random>

#include "workloads/support/verification/recorded_pointers.hpp"
#include "workloads/support/verification/slot_check.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t base = std::uint64_t{1} << 40;
constexpr std::uint32_t blocks = 100'000;

class SlotChecks : public testing::Test {
 protected:
  void SetUp() override {
    if (simt::Device::count() == 0) GTEST_SKIP() << "no CUDA device";
    device.emplace(0);
    stream.emplace(*device);
    rules.pool_begin = base;
    rules.pool_end = base + std::uint64_t{blocks} * 64;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      addresses.push_back(base + std::uint64_t{i} * 64);
      sizes.push_back(1 + i % 64);
    }
    std::shuffle(addresses.begin(), addresses.end(), std::mt19937(1));
  }

  // Judges the slots after `damage`. Checks that host and device agree, and returns their verdict.
  bool right(const std::function<void()>& damage, PointerCheck::Live live = PointerCheck::Live::together) {
    const auto intact = addresses;
    damage();
    simt::Buffer<void*> slots(blocks);
    std::vector<void*> pointers;
    std::vector<RecordedBlock> recorded;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      pointers.push_back(reinterpret_cast<void*>(addresses[i]));
      recorded.push_back({addresses[i], sizes[i], i});
    }
    slots.from_host(*stream, pointers);
    simt::Buffer<std::uint32_t> on_device(blocks);
    on_device.from_host(*stream, sizes);
    const std::size_t half = blocks / 2;
    const AnySize all_sizes{0, on_device.data()};
    const AnySize second_sizes{0, on_device.data() + half};
    const std::array ranges{
        SlotRange{.slots = slots.data(), .count = half, .sizes = all_sizes, .period = half},
        SlotRange{
            .slots = slots.data() + half, .count = blocks - half, .sizes = second_sizes, .period = blocks - half}};
    const std::optional<std::uint64_t> by_device = check.nulls_if_right(*stream, ranges, rules, live);
    PointerCheck host(rules);
    host.check(recorded, live);
    EXPECT_EQ(by_device.has_value(), host.ok()) << host.problem();
    if (by_device) EXPECT_EQ(*by_device, host.nulls());
    EXPECT_EQ(check.holding(*stream, slots.data(), blocks, nullptr), host.nulls());
    addresses = intact;
    return by_device.has_value();
  }

  std::optional<simt::Device> device;
  std::optional<simt::Stream> stream;
  PointerRules rules;
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint32_t> sizes;
  SlotCheck check;
};

TEST_F(SlotChecks, AgreeWithTheHost) {
  EXPECT_TRUE(right([] {}));
  EXPECT_TRUE(right([&] { addresses[77] = 0; })) << "null is counted";
  EXPECT_FALSE(right([&] { addresses[77] = poisoned_slot; })) << "unwritten";
  EXPECT_FALSE(right([&] { addresses[77] += 8; })) << "misaligned";
  EXPECT_FALSE(right([&] { addresses[77] = base - 64; })) << "below the pool";
  EXPECT_FALSE(right([&] { addresses[77] = rules.pool_end; })) << "above the pool";
  EXPECT_FALSE(right([&] { addresses[77] = addresses[78]; })) << "handed out twice";
  EXPECT_TRUE(right([&] { addresses[77] = addresses[78]; }, PointerCheck::Live::separately));
}

TEST_F(SlotChecks, SeeEveryOverlap) {
  std::mt19937 draw(2);
  for (int i = 0; i < 50; ++i) {
    right([&] {
      const std::uint32_t moved = draw() % blocks;
      addresses[moved] = base + (draw() % (blocks * 4 - 4)) * std::uint64_t{16};
      if (draw() % 4 == 0) sizes[draw() % blocks] = 0;
    });
  }
}

TEST_F(SlotChecks, LeaveOutWhoTakesNoPart) {
  const std::vector<void*> pointers{nullptr, reinterpret_cast<void*>(base), reinterpret_cast<void*>(poisoned_slot)};
  simt::Buffer<void*> slots(3);
  slots.from_host(*stream, pointers);
  simt::Buffer<std::uint8_t> flags(3);
  SlotRange range{.slots = slots.data(), .count = 3, .sizes = {16}, .takes_part = flags.data(), .callers = 3};
  flags.from_host(*stream, {0, 1, 0});
  EXPECT_EQ(check.nulls_if_right(*stream, {&range, 1}, rules, PointerCheck::Live::together), 0u);
  flags.from_host(*stream, {1, 1, 0});
  EXPECT_EQ(check.nulls_if_right(*stream, {&range, 1}, rules, PointerCheck::Live::together), 1u);
  flags.from_host(*stream, {1, 1, 1});
  EXPECT_EQ(check.nulls_if_right(*stream, {&range, 1}, rules, PointerCheck::Live::together), std::nullopt);
}

TEST_F(SlotChecks, LeaveOutMarksAndWhatNobodyWrote) {
  const auto pointer = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
  simt::Buffer<void*> slots(4);
  slots.from_host(*stream, {pointer(1), pointer(poisoned_slot), nullptr, pointer(base)});
  SlotRange range{.slots = slots.data(), .count = 4, .sizes = {16}, .mark = 1};
  const auto nulls = [&] { return check.nulls_if_right(*stream, {&range, 1}, rules, PointerCheck::Live::separately); };
  EXPECT_EQ(nulls(), 1u);
  EXPECT_EQ(check.holding(*stream, slots.data(), 4, pointer(1)), 1u);
  EXPECT_EQ(check.holding(*stream, slots.data(), 4, pointer(poisoned_slot)), 1u);
  slots.from_host(*stream, {pointer(1), pointer(poisoned_slot), nullptr, pointer(base + 8)});
  EXPECT_EQ(nulls(), std::nullopt) << "misaligned";
  range.mark = 0;
  slots.from_host(*stream, {pointer(base), pointer(poisoned_slot), nullptr, pointer(base)});
  EXPECT_EQ(nulls(), std::nullopt) << "no slot may keep its poison";
}

TEST_F(SlotChecks, LeaveBoundsOutWhereThereIsNoPool) {
  rules.pool_end = 0;
  EXPECT_TRUE(right([&] { addresses[77] = base - 64; }));
}

}  // namespace
}  // namespace allocbench
