// These tests cover device memory and the device heap of the CPU back end.
#include "simt/cpu/memory.hpp"

#include <cstring>

#include "simt/cpu/device_heap.hpp"
#include "simt/cpu/random.hpp"
#include "tests/simt/fault_helpers.hpp"

namespace simt::faults {
namespace {

TEST(DeviceMemory, AddressesRepeat) {
  std::vector<void*> first;
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> blocks;
    for (const std::size_t bytes : {100u, 1u << 20, 5000u, 64u}) blocks.push_back(device_allocate(bytes));
    for (void* block : blocks) device_release(block);
    if (round == 0) first = blocks;
    EXPECT_EQ(blocks, first);
  }
  EXPECT_TRUE(device_memory::addresses_are_fixed());
}

TEST(DeviceMemory, FreshMemoryHoldsAPatternOfTheSeed) {
  const auto fresh = [](std::uint64_t seed) {
    Device device(deterministic(seed));
    Stream stream(device);
    return Buffer<std::uint64_t>(512).to_host(stream);
  };
  const auto pattern = fresh(1);
  EXPECT_EQ(fresh(1), pattern);
  EXPECT_NE(fresh(2), pattern);
  for (const std::uint64_t word : pattern) EXPECT_NE(word, 0u);
}

TEST(DeviceMemory, RefusesMoreThanTheMachineHas) {
  const std::size_t too_much = device_memory::physical_bytes() + 4096;
  try {
    device_release(device_allocate(too_much));
    FAIL() << "over-committed";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::out_of_memory);
    EXPECT_NE(std::string(fault.what()).find(std::to_string(too_much) + " bytes asked"), std::string::npos);
  }
}

TEST(DeviceMemory, TellsOnceWhatWasWrittenBehindTheEnd) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends the process at the write";
#endif
  device_memory::take_overrun();
  auto* words = static_cast<std::uint32_t*>(device_allocate(12));
  words[2] = 1;
  device_release(words);
  EXPECT_EQ(device_memory::take_overrun(), "");
  words = static_cast<std::uint32_t*>(device_allocate(12));
  words[4] = 1;
  device_release(words);
  EXPECT_EQ(device_memory::take_overrun(), "written behind the end of an allocation of 12 bytes, at its byte 16");
  EXPECT_EQ(device_memory::take_overrun(), "");
}

TEST(DeviceHeap, IsFixedOnceUsed) {
  Device device(0);
  EXPECT_EQ(device.set_device_heap_bytes(1 << 16), std::size_t{1} << 16);
  int local = 0;
  EXPECT_FALSE(device.in_device_heap(&local));
  void* block = device.executor().device_heap().malloc(1);
  EXPECT_TRUE(device.in_device_heap(block));
  EXPECT_THROW(device.set_device_heap_bytes(1 << 20), Fault);
}

// The test makes 20,000 random calls. Blocks must keep their bytes, and all memory must be free at the end.
TEST(DeviceHeap, RandomWalkReworked) {
  DeviceHeapMemory heap(1 << 18);
  struct Live {
    unsigned char* block;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<Live> live;
  Random random(7);
  std::uint32_t nulls = 0;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    if (live.empty() || random.below(100) < 55) {
      const std::size_t bytes = random.below(10) == 0 ? random.below(20'000) : random.below(200);
      auto* block = static_cast<unsigned char*>(heap.malloc(bytes));
      if (block == nullptr) {
        ++nulls;
        continue;
      }
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
      const auto mark = static_cast<unsigned char>(step);
      std::memset(block, mark, bytes);
      live.push_back({block, bytes, mark});
    } else {
      std::swap(live[random.below(static_cast<std::uint32_t>(live.size()))], live.back());
      const Live last = live.back();
      live.pop_back();
      for (std::size_t i = 0; i < last.bytes; ++i) ASSERT_EQ(last.block[i], last.mark);
      ASSERT_TRUE(heap.free(last.block));
      ASSERT_FALSE(heap.free(last.block));
    }
  }
  EXPECT_GT(nulls, 0u);
  for (const Live& each : live) ASSERT_TRUE(heap.free(each.block));
  void* everything = heap.malloc((1 << 18) - 64);
  EXPECT_NE(everything, nullptr) << "free neighbours were not merged";
  EXPECT_FALSE(heap.free(static_cast<char*>(everything) + 16));
  EXPECT_EQ(heap.malloc(1 << 18), nullptr);
  EXPECT_EQ(heap.malloc(~std::size_t{0} / 2), nullptr);
}

TEST(DeviceHeap, TheLargestRequestGetsASmallBlockAsInCuda) {
  DeviceHeapMemory heap(1 << 12);
  void* const block = heap.malloc(~std::size_t{0});
  EXPECT_NE(block, nullptr);
  EXPECT_NE(heap.malloc(1 << 11), nullptr);
  EXPECT_TRUE(heap.free(block));
}

}  // namespace
}  // namespace simt::faults
