// These tests check that every caller index belongs to exactly one thread, which is in a calling lane.
#include "workloads/support/requests/geometry.hpp"

#include <gtest/gtest.h>

#include "tests/workloads/cpu_device.hpp"

namespace allocbench {
namespace {

struct MarkKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Geometry geometry, std::uint32_t* takers, std::uint32_t* lanes) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    thread.atomic(takers[caller]).fetch_add(1u, simt::relaxed);
    lanes[caller] = thread.lane();
  }
};

void expect_dense(const Geometry& geometry) {
  test::CpuDevice cpu;
  simt::Buffer<std::uint32_t> takers(geometry.callers);
  simt::Buffer<std::uint32_t> lanes(geometry.callers);
  takers.fill_bytes(cpu.stream, 0);
  simt::launch(cpu.stream, geometry.shape(), MarkKernel{}, geometry, takers.data(), lanes.data());
  for (const std::uint32_t count : takers.to_host(cpu.stream)) EXPECT_EQ(count, 1u);
  for (const std::uint32_t lane : lanes.to_host(cpu.stream)) EXPECT_LT(lane, geometry.lanes_per_warp);
}

TEST(Geometry, IndexesCallersDensely) {
  for (const std::uint32_t threads_per_block : {1u, 31u, 32u, 48u, 256u}) {
    for (const std::uint32_t lanes : {1u, 5u, 32u}) {
      SCOPED_TRACE(testing::Message() << threads_per_block << " threads, " << lanes << " lanes");
      expect_dense(Geometry::of_callers(1000, threads_per_block, lanes));
      expect_dense(Geometry::of_blocks(7, threads_per_block, lanes));
    }
  }
}

TEST(Geometry, CountsTheCallersOfThePaper) {
  EXPECT_EQ(Geometry::of_blocks(120, 256, 1).callers, 960u);  // Vinkler & Havran 2015, table 1: blocks × 8
}

TEST(Geometry, KnowsWholeWarps) {
  EXPECT_TRUE(Geometry::of_callers(64, 256, 32).whole_warps());
  EXPECT_FALSE(Geometry::of_callers(65, 256, 32).whole_warps());
  EXPECT_FALSE(Geometry::of_callers(64, 256, 16).whole_warps());
  EXPECT_FALSE(Geometry::of_blocks(2, 48, 32).whole_warps());
}

}  // namespace
}  // namespace allocbench
