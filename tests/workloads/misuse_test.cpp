// These tests check that misuse accepts right answers, names wrong answers, and that its adaptors do what they claim.
#include "workloads/misuse/misuse.hpp"

#include <gtest/gtest.h>

#include "allocators/circular_malloc/cfm_malloc_reworked.hpp"
#include "allocators/fdgmalloc/fdgmalloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "allocators/random_walk/corw_reworked.hpp"
#include "allocators/scatteralloc/scatteralloc.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_free/alloc_free.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

template <class A>
using Rig = test::WorkloadRig<Misuse, A, CallKernels>;
using test::Fault;
using test::SlotMalloc;

Misuse::Parameters of(const std::string& call) {
  Misuse::Parameters parameters;
  parameters.call = call;
  parameters.threads = 80;
  parameters.threads_per_block = 64;
  parameters.request_bytes = 48;
  return parameters;
}

// Runs three samples of this misuse. Returns the first problem, the reason why the cell failed, or an empty text.
template <class A>
std::string answer(const std::string& call, std::size_t pool_bytes = 1 << 20) {
  Rig<A> rig(of(call), pool_bytes);
  for (const bool observed : {false, true, false}) {
    try {
      const std::string problem = observed ? rig.observed_sample() : rig.sample();
      if (!problem.empty()) return problem;
    } catch (const CellFailure& failure) {
      return failure.what();
    }
  }
  return {};
}

template <class A>
class MisuseOf : public ::testing::Test {};
// ScatterAlloc promises null for 0 bytes. The last two designs free in bulk.
using Designs = ::testing::Types<KmaReworked, CFMMallocReworked, CollaborativeRandomWalkReworked, ScatterAlloc,
                                 FdgMalloc, FdgMallocReworked>;
TYPED_TEST_SUITE(MisuseOf, Designs);

TYPED_TEST(MisuseOf, IsAnsweredAsAgreed) {
  for (const char* call : Misuse::calls) EXPECT_EQ(answer<TypeParam>(call), "") << call;
}

// The allocator serves every request.
TEST(Misuse, FindsAnAbsurdRequestThatIsServed) {
  EXPECT_NE(answer<SlotMalloc<Fault::none>>("absurd_size").find("80 of 80 requests of 1048577 B were served"),
            std::string::npos);
}

TEST(Misuse, FindsAFreeOfNullThatFreesABlock) {
  // The blocks before the call take half of the 160 slots, and those after the call need the other half. A free of null
  // that gives back a slot makes two of them overlap.
  constexpr std::size_t slots = 160 * 64;
  EXPECT_EQ(answer<SlotMalloc<Fault::none>>("free_null", slots), "");
  EXPECT_NE(answer<SlotMalloc<Fault::null_gives_a_slot>>("free_null", slots).find("overlap"), std::string::npos);
}

TEST(Misuse, CatchesEveryDoubleFree) {
  Rig<SlotMalloc<Fault::none>> rig(of("double_free"));
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.value("caught_share"), 1);
}

TEST(Misuse, AbsurdSizesExceedThePool) {
  for (const std::uint64_t pool : {std::uint64_t{1} << 16, std::uint64_t{3} << 32}) {
    for (const std::uint64_t bytes : absurd_sizes(pool)) EXPECT_GT(bytes, pool);
  }
}

TEST(Failing, RefusesWhatItSaysAndPassesOnTheRest) {
  AllocFree::Parameters parameters;
  parameters.threads = 1000;
  parameters.request_bytes = 64;
  for (const double chance : {0.0, 0.1, 0.5, 1.0}) {
    test::WorkloadRig<AllocFree, SlotMalloc<Fault::none>, CallKernels> rig(parameters);
    const FailureRule rule = FailureRule::with_chance(chance, 9);
    std::uint64_t refused = 0;
    for (std::uint32_t thread = 0; thread < 1000; ++thread) refused += rule.refuses(thread, 0) ? 1 : 0;
    // With 1,000 draws, five standard deviations of a share are below 0.08.
    EXPECT_NEAR(static_cast<double>(refused) / 1000, chance, 0.08);
    const std::string expected = refused == 0 ? "" : std::to_string(refused) + " nulls";
    EXPECT_EQ(rig.sample(rig.allocator.failing(rule)), expected);
    EXPECT_EQ(rig.sample(), "") << "the other handle refuses nothing, and nothing stays allocated";
  }
}

TEST(Failing, DrawsEveryCallAnew) {
  const FailureRule rule = FailureRule::with_chance(0.5, 3);
  std::uint64_t differ = 0;
  for (std::uint32_t thread = 0; thread < 1000; ++thread) differ += rule.refuses(thread, 0) != rule.refuses(thread, 1);
  EXPECT_NEAR(static_cast<double>(differ), 500, 80);
}

}  // namespace
}  // namespace allocbench
