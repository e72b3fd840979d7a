// These tests check that producer_consumer frees every block once, by a thread of the wanted kind.
#include "workloads/producer_consumer/producer_consumer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

struct Place {
  std::uint32_t block, warp, lane;
};
Place place_of(const Geometry& geometry, std::uint32_t caller) {
  const std::uint32_t in_block = caller % geometry.callers_per_block;
  return {caller / geometry.callers_per_block, in_block / geometry.lanes_per_warp, in_block % geometry.lanes_per_warp};
}

class Producers : public ::testing::TestWithParam<Geometry> {};
INSTANTIATE_TEST_SUITE_P(Geometries, Producers,
                         ::testing::Values(Geometry::of_callers(256, 64, 32), Geometry::of_callers(60, 64, 5),
                                           Geometry::of_callers(200, 80, 32)));

TEST_P(Producers, AreOfTheWantedKindAndServedOnce) {
  const Geometry& geometry = GetParam();
  for (const std::string freed_by : ProducerConsumer::consumers) {
    SCOPED_TRACE(freed_by);
    const std::vector<std::uint32_t> producers = producers_of(geometry, freed_by, 3);
    std::vector<std::uint32_t> sorted = producers;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < geometry.callers; ++i) ASSERT_EQ(sorted[i], i);
    std::uint32_t as_wanted = 0;
    for (std::uint32_t caller = 0; caller < geometry.callers; ++caller) {
      const Place here = place_of(geometry, caller);
      const Place there = place_of(geometry, producers[caller]);
      if (freed_by == "same_thread") as_wanted += producers[caller] == caller;
      if (freed_by == "other_lane")
        as_wanted += here.block == there.block && here.warp == there.warp && here.lane != there.lane;
      if (freed_by == "other_warp") as_wanted += here.block == there.block && here.warp != there.warp;
      if (freed_by == "other_block") as_wanted += here.block != there.block;
      if (freed_by == "anybody") as_wanted += producers[caller] != caller;
    }
    EXPECT_GE(as_wanted, geometry.callers * 8 / 10);
  }
}

TEST(ProducerConsumer, FreesEverything) {
  ProducerConsumer::Parameters parameters;
  parameters.threads = 200;
  parameters.threads_per_block = 64;
  parameters.sizes = "uniform";
  parameters.max_bytes = 500;
  for (const char* freed_by : ProducerConsumer::consumers) {
    parameters.freed_by = freed_by;
    test::WorkloadRig<ProducerConsumer, KmaReworked, CallKernels> rig(parameters, 1 << 20, {.superblock_bytes = 4096});
    for (int sample = 0; sample < 5; ++sample) EXPECT_EQ(rig.sample(), "") << freed_by;
    EXPECT_EQ(rig.observed_sample(), "") << freed_by;
  }
}

TEST(ProducerConsumer, NeedsFreesByAnyThread) {
  EXPECT_NE((test::why_unsupported<ProducerConsumer, FdgMallocReworkedOnKma>({}, 64 << 20)), "");
}

}  // namespace
}  // namespace allocbench
