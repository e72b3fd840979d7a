// These tests check that the buckets of latency have the right bounds, that percentiles are those of the calls, and
// that the adaptor times only the call.
#include "workloads/latency/latency.hpp"

#include <gtest/gtest.h>

#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/latency/kernels.hpp"
#include "workloads/latency/percentiles.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using Counts = LatencyHistogram<std::uint64_t>;

TEST(LatencyBuckets, FollowEachOtherWithoutGapsAndAreAtMostASixteenthWide) {
  for (std::uint32_t bucket = 0; bucket + 1 < LatencyBuckets::count; ++bucket) {
    const std::uint64_t first = LatencyBuckets::first_of(bucket);
    const std::uint64_t next = LatencyBuckets::first_of(bucket + 1);
    ASSERT_LT(first, next) << bucket;
    ASSERT_EQ(LatencyBuckets::bucket_of(first), bucket);
    ASSERT_EQ(LatencyBuckets::bucket_of(next - 1), bucket);
    ASSERT_LE((next - first) * 16, std::max<std::uint64_t>(first, 16)) << bucket;
  }
  EXPECT_EQ(LatencyBuckets::bucket_of(1ull << 36), LatencyBuckets::count - 1);
  EXPECT_EQ(LatencyBuckets::bucket_of(~0ull), LatencyBuckets::count - 1);
}

Counts histogram_of(const std::vector<std::uint64_t>& durations) {
  Counts counts;
  for (const std::uint64_t each : durations) {
    ++counts.counts[LatencyBuckets::bucket_of(each)];
    counts.largest = std::max(counts.largest, each);
  }
  return counts;
}

TEST(LatencyPercentiles, AreThoseOfTheCalls) {
  std::vector<std::uint64_t> durations(990, 10);
  durations.insert(durations.end(), 9, 14);
  durations.push_back(5000);
  const Counts counts = histogram_of(durations);
  EXPECT_EQ(calls_in(counts), 1000u);
  EXPECT_EQ(percentile(counts, 0.5), 10u);
  EXPECT_EQ(percentile(counts, 0.99), 10u);
  EXPECT_EQ(percentile(counts, 0.991), 14u);
  EXPECT_EQ(percentile(counts, 0.999), 14u);
  EXPECT_NEAR(static_cast<double>(percentile(counts, 1)), 5000, 5000.0 / 16);
}

TEST(LatencyPercentiles, NeverExceedTheLongestCall) {
  EXPECT_EQ(percentile(histogram_of({1000}), 0.5), 1000u);
  EXPECT_EQ(percentile(histogram_of({1ull << 40}), 0.5), 1ull << 40) << "beyond the last bucket's begin";
}

TEST(LatencyPercentiles, OfNoCallsDoNotExist) {
  EXPECT_THROW(static_cast<void>(percentile(Counts{}, 0.5)), std::invalid_argument);
}

// Every tenth malloc reads a word 500 times.
class SometimesSlow : public test::SlotMalloc<test::Fault::none> {
 public:
  using Base = test::SlotMalloc<test::Fault::none>;
  static SometimesSlow create(Arena& arena, const Parameters& parameters) {
    SometimesSlow result;
    static_cast<Base&>(result) = Base::create(arena, parameters);
    result.calls_ = arena.metadata<std::uint32_t>(1);
    return result;
  }
  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (thread.atomic(*calls_).fetch_add(1u, simt::relaxed) % 10 == 9) {
      for (int i = 0; i < 500; ++i) static_cast<void>(thread.atomic(*calls_).load(simt::relaxed));
    }
    return Base::malloc(thread, bytes);
  }

 private:
  std::uint32_t* calls_ = nullptr;
};

LatencyTails::Parameters threads(std::uint32_t threads, std::uint32_t lanes_per_warp) {
  LatencyTails::Parameters parameters;
  parameters.threads = threads;
  parameters.lanes_per_warp = lanes_per_warp;
  parameters.threads_per_block = 64;
  return parameters;
}

template <class A>
using Rig = test::WorkloadRig<LatencyTails, A, CallKernels, LatencyKernels>;

// There is only one caller, so its calls contain no steps of other lanes.
TEST(Latency, TimesTheCallAndNothingElse) {
  Rig<SometimesSlow> rig(threads(1, 1));
  for (int sample = 1; sample <= 20; ++sample) {
    ASSERT_EQ(rig.sample(), "");
    const bool slow = sample % 10 == 0;
    EXPECT_EQ(rig.value("alloc_p50") >= 500, slow) << sample;
    EXPECT_NEAR(rig.value("alloc_p50"), rig.value("alloc_max"), rig.value("alloc_max") / 16);
    EXPECT_LT(rig.value("own_max"), 100) << "nothing is called where the own cost is measured";
    EXPECT_LT(rig.value("free_max"), 100);
  }
  EXPECT_EQ(rig.run->kernels().size(), 2u);
}

TEST(Latency, CountsEveryCallOfEveryBlock) {
  Rig<SometimesSlow> rig(threads(330, 32));
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.operations("alloc"), 330u);
  EXPECT_GE(rig.value("alloc_p99"), rig.value("alloc_p50"));
  EXPECT_GE(rig.value("alloc_max"), 500);
}

TEST(Latency, CountsNothingWhereCallsAreObserved) {
  Rig<SometimesSlow> rig(threads(64, 32));
  EXPECT_EQ(rig.observed_sample(), "");
  EXPECT_TRUE(rig.timer->counters().empty()) << "what is not counted is not 0";
}

TEST(Latency, ServesDesignsWithStatePerWarp) {
  Rig<FdgMallocReworkedOnKma> rig(threads(100, 32), 8 << 20, {.most_warps = 64});
  EXPECT_EQ(rig.sample(), "");
  EXPECT_GT(rig.value("alloc_p50"), 0);
}

}  // namespace
}  // namespace allocbench
