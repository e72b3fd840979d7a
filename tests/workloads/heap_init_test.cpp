// These tests check that heap_init starts every sample with a new heap, and refuses designs that cannot make their heap
// new.
#include "workloads/heap_init/heap_init.hpp"

#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/cuda_malloc/cuda_malloc.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

template <class A>
using Rig = test::WorkloadRig<HeapInit, A, CallKernels>;

TEST(HeapInit, TimesTheResetAndTheFirstRequests) {
  HeapInit::Parameters parameters;
  parameters.threads = 100;
  Rig<KmaReworked> rig(parameters, 1 << 16, {.superblock_bytes = 4096});
  EXPECT_EQ(rig.sample(), "");
  ASSERT_EQ(rig.timer->phases().size(), 2u);
  EXPECT_EQ(rig.timer->phases()[0].name, "init");
  EXPECT_EQ(rig.timer->phases()[1].operations, 100u);
}

TEST(HeapInit, IsObservedWithoutTheReset) {
  HeapInit::Parameters parameters;
  parameters.threads = 100;
  Rig<KmaReworked> rig(parameters, 1 << 16, {.superblock_bytes = 4096});
  EXPECT_EQ(rig.observed_sample(), "");
  ASSERT_EQ(rig.timer->phases().size(), 1u);
  EXPECT_EQ(rig.timer->phases()[0].name, "first_alloc");
}

// A bump allocator has room for two samples, but not for three.
TEST(HeapInit, StartsFromANewHeapEachTime) {
  HeapInit::Parameters parameters;
  parameters.threads = 64;
  Rig<AtomicMalloc> rig(parameters, 2 * 64 * 16);
  for (int sample = 0; sample < 4; ++sample) EXPECT_EQ(rig.sample(), "") << sample;
}

TEST(HeapInit, IsUnsupportedWhereOnlyAProcessMakesItNew) {
  EXPECT_NE((test::why_unsupported<HeapInit, CudaMalloc>({})), "");
  EXPECT_EQ((test::why_unsupported<HeapInit, KmaReworked>({})), "");
}

}  // namespace
}  // namespace allocbench
