// These tests check that simultaneous kernels of streams leave the heap in the same state as kernels in sequence, and
// that every block is checked.
#include "workloads/streams/streams.hpp"

#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/comb/comb.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "allocators/slab/slab.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/streams/kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

template <class A>
using StreamsRig = test::WorkloadRig<Streams, A, StreamsKernels, CallKernels>;

Streams::Parameters small(const char* roles, std::uint32_t kernels = 5) {
  Streams::Parameters parameters;
  parameters.threads = 96;
  parameters.threads_per_block = 32;
  parameters.kernels = kernels;
  parameters.roles = roles;
  parameters.request_bytes = 48;
  return parameters;
}

TEST(Streams, EveryRoleIsServedAtOnceAndInTurn) {
  const std::pair<const char*, std::uint64_t> roles[] = {{"allocate", 5}, {"free", 5}, {"both", 10}, {"mixed", 6}};
  for (const auto& [name, calls] : roles) {
    SCOPED_TRACE(name);
    StreamsRig<Comb> comb(small(name), 4 << 20);
    StreamsRig<KmaReworked> kma(small(name), 4 << 20);
    for (int repetition = 0; repetition < 3; ++repetition) {
      EXPECT_EQ(comb.sample(), "");
      EXPECT_EQ(comb.observed_sample(), "");
      EXPECT_EQ(kma.sample(), "");
      EXPECT_EQ(kma.observed_sample(), "");
    }
    EXPECT_EQ(comb.operations("streams"), calls * 96);
    EXPECT_EQ(comb.operations("one_stream"), calls * 96);
  }
}

TEST(Streams, BlocksOfTwoKernelsThatOverlapAreFound) {
  StreamsRig<AtomicMalloc> good(small("allocate", 2), 1 << 20);
  EXPECT_EQ(good.sample(), "");
  StreamsRig<test::SlotMalloc<test::Fault::double_hand_out>> bad(small("allocate", 2), 1 << 20);
  EXPECT_NE(bad.sample().find("overlap"), std::string::npos);
}

TEST(Streams, WhatIsFoundAgainByThePlaceOfAThreadIsRefused) {
  StreamsRig<Comb> comb(small("mixed"), 1 << 20);
  EXPECT_EQ(Streams::unsupported(small("mixed"), comb.setting), "");
  const std::string why = test::why_unsupported<Streams, Slab>(small("mixed"));
  EXPECT_NE(why.find("kernels that run at once would share it"), std::string::npos) << why;
}

}  // namespace
}  // namespace allocbench
