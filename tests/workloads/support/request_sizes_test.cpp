// These tests check that distributions of request sizes are deterministic, stay within their bounds, and have the
// requested proportions.
#include "workloads/support/requests/request_sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "workloads/support/random/random.hpp"

namespace allocbench {
namespace {

TEST(RandomWords, AreThePhiloxSequence) {
  // In Random123's kat_vectors, the known-answer test of Philox4x32-10 for counter 0 and key 0 begins with 6627e8d5.
  // Our streams are numbered from 1, so a stream of 0 gives counter 0.
  EXPECT_EQ(random_words(0, RandomStream{0}, 0).words[0], 0x6627e8d5u);
}

TEST(RequestSizes, FixedKeepsNoArray) {
  const RequestSizes sizes = RequestSizes::fixed(20);
  EXPECT_TRUE(sizes.array().empty());
  EXPECT_EQ(sizes[12345], 20u);
  EXPECT_EQ(sizes.total_bytes(3), 3u * 32) << "16 bytes are the smallest step of a pool";
}

TEST(RequestSizes, UniformCoversBothEnds) {
  const RequestSizes sizes = RequestSizes::uniform(4, 7, 1000, 9);
  for (std::uint32_t value = 4; value <= 7; ++value) {
    const auto count = std::count(sizes.array().begin(), sizes.array().end(), value);
    EXPECT_NEAR(static_cast<double>(count), 250, 60) << value;
  }
  EXPECT_EQ(sizes.largest(), 7u);
}

TEST(RequestSizes, DependOnSeedAndCallerOnly) {
  const RequestSizes few = RequestSizes::uniform(1, 1'000'000, 10, 9);
  const RequestSizes many = RequestSizes::uniform(1, 1'000'000, 1000, 9);
  const RequestSizes other = RequestSizes::uniform(1, 1'000'000, 10, 10);
  EXPECT_TRUE(std::equal(few.array().begin(), few.array().end(), many.array().begin()));
  EXPECT_NE(few.array(), other.array());
}

TEST(RequestSizes, ListFollowsItsWeights) {
  const RequestSizes sizes = RequestSizes::list({16, 64, 256}, {1, 0, 3}, 4000, 5);
  const auto count = [&](std::uint32_t bytes) {
    return static_cast<double>(std::count(sizes.array().begin(), sizes.array().end(), bytes));
  };
  EXPECT_NEAR(count(16), 1000, 120);
  EXPECT_EQ(count(64), 0);
  EXPECT_EQ(count(16) + count(256), 4000);
}

TEST(RequestSizes, RefusesContradictions) {
  EXPECT_THROW(RequestSizes::uniform(8, 4, 1, 0), std::invalid_argument);
  EXPECT_THROW(RequestSizes::list({}, {}, 1, 0), std::invalid_argument);
  EXPECT_THROW(RequestSizes::list({16, 32}, {1}, 1, 0), std::invalid_argument);
  EXPECT_THROW(RequestSizes::list({16}, {0}, 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace allocbench
