#include "check/user_pattern.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>
#include <vector>

namespace allocbench::check {
namespace {

constexpr std::byte untouched{0};  // the pattern has no byte of this value

struct Memory {
  alignas(16) std::array<std::byte, 512> bytes{};
};

// Returns the offsets of a block that its owner accesses: 64 bytes at each end.
std::set<std::size_t> edges(std::size_t bytes) {
  std::set<std::size_t> offsets;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i < 64 || i + 64 >= bytes) offsets.insert(i);
  }
  return offsets;
}

TEST(UserPattern, WritesTheEdgesAndNothingElse) {
  for (const std::size_t start : {0u, 3u, 8u}) {
    for (std::size_t bytes = 1; bytes < 300; ++bytes) {
      Memory memory;
      std::byte* block = memory.bytes.data() + 16 + start;
      UserPattern(7).write(block, bytes);
      std::set<std::size_t> written;
      for (std::size_t i = 0; i < memory.bytes.size(); ++i) {
        if (memory.bytes[i] != untouched) written.insert(i - 16 - start);
      }
      ASSERT_EQ(written, edges(bytes)) << bytes << " bytes at " << start;
    }
  }
}

TEST(UserPattern, FindsEveryChangedByteOfTheEdges) {
  for (const std::size_t start : {0u, 5u}) {
    for (const std::size_t bytes : {1u, 8u, 13u, 64u, 100u, 128u, 203u}) {
      Memory memory;
      std::byte* block = memory.bytes.data() + start;
      const UserPattern pattern(12);
      pattern.write(block, bytes);
      EXPECT_EQ(pattern.first_damage(block, bytes), bytes);
      for (const std::size_t offset : edges(bytes)) {
        block[offset] ^= std::byte{0x40};
        EXPECT_EQ(pattern.first_damage(block, bytes), offset);
        block[offset] ^= std::byte{0x40};
      }
    }
  }
}

TEST(UserPattern, TakesWordsWhereTheyAreAligned) {
  const auto widths = [](const std::byte* block, std::size_t bytes) {
    std::vector<std::pair<std::size_t, std::size_t>> accesses;
    UserPattern::for_accesses(block, bytes,
                              [&](std::size_t offset, std::size_t width) { accesses.emplace_back(offset, width); });
    return accesses;
  };
  using Accesses = std::vector<std::pair<std::size_t, std::size_t>>;
  const Memory memory;
  EXPECT_EQ(widths(memory.bytes.data(), 18), (Accesses{{0, 8}, {8, 8}, {16, 1}, {17, 1}}));
  EXPECT_EQ(widths(memory.bytes.data() + 6, 11), (Accesses{{0, 1}, {1, 1}, {2, 8}, {10, 1}}));
  EXPECT_EQ(widths(memory.bytes.data() + 4, 8),
            (Accesses{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}}));
}

}  // namespace
}  // namespace allocbench::check
