// These tests check that the contract suite finds the faults of the saboteurs (allocators with planted faults), and
// finds nothing in an allocator without faults.
#include "tests/contract/suite.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/support/saboteur/saboteur.hpp"
#include "tests/contract/expectations.hpp"
#include "workloads/support/contract/export.hpp"

namespace allocbench::contract {
namespace {

template <class A>
const AllocatorType& scripted_type() {
  static const AllocatorType type = [] {
    AllocatorType result = allocator_type<A>("test");
    result.add_kernels(kernels_for<A, ScriptKernels>());
    return result;
  }();
  return type;
}

// Returns all problems of this case, or "inapplicable" if the case makes no sense.
template <class A>
std::string problems(const std::string& name) {
  for (const Case& each : all_cases()) {
    if (each.name != name) continue;
    if (!each.inapplicable(A::traits).empty()) return "inapplicable";
    std::string all;
    const Report report = run_case(each, scripted_type<A>());
    for (const std::string& problem : report.problems()) all += problem + "\n";
    return all;
  }
  return "no case " + name;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Suite, AnAllocatorWithoutFaultsPasses) {
  for (const char* name : {"class_borders", "max_request", "blocks_of_33_threads", "null_when_full", "reset_when_full",
                           "frees_nothing", "free_null", "replay", "pool_of_12_gib"}) {
    EXPECT_EQ(problems<AtomicMalloc>(name), "") << name;
  }
}

TEST(Suite, RulesSkipWhatMakesNoSense) {
  EXPECT_EQ(problems<AtomicMalloc>("refill"), "inapplicable");
  EXPECT_EQ(problems<SaboteurLeak>("frees_nothing"), "inapplicable");
}

TEST(Suite, FindsAHang) { EXPECT_PRED2(contains, problems<SaboteurHang>("divergent_sizes"), "livelock"); }
TEST(Suite, FindsATrap) { EXPECT_PRED2(contains, problems<SaboteurTrap>("divergent_sizes"), "device_fault"); }
TEST(Suite, FindsAProcessThatEndsEarly) {
  const auto end_with_3 = [](const AllocatorType&, Report&) { _exit(3); };
  const Report report = run_case({"ends", nullptr, end_with_3}, scripted_type<AtomicMalloc>());
  EXPECT_EQ(report.problems(), std::vector<std::string>{"the process ended with exit code 3"});
}
TEST(Suite, FindsAWildAtomicAccess) {
  const auto lock_nothing = [](const AllocatorType&, Report&) {
    static volatile std::uintptr_t nowhere = 64;
    std::atomic_ref<unsigned>(*reinterpret_cast<unsigned*>(nowhere)).fetch_or(1, std::memory_order_acquire);
  };
  const Report report = run_case({"locks", nullptr, lock_nothing}, scripted_type<AtomicMalloc>());
  ASSERT_EQ(report.problems().size(), 1u);
  EXPECT_PRED2(contains, report.problems()[0], "the process ended ");
}
TEST(Suite, FindsNulls) { EXPECT_PRED2(contains, problems<SaboteurNull>("divergent_sizes"), "got null"); }
TEST(Suite, FindsOverlaps) { EXPECT_PRED2(contains, problems<SaboteurOverlap>("null_when_full"), "overlapping"); }
TEST(Suite, FindsOverwrittenBlocks) {
  EXPECT_PRED2(contains, problems<SaboteurOverlap>("null_when_full"), "overwritten");
}
TEST(Suite, FindsStaleBlocks) { EXPECT_PRED2(contains, problems<SaboteurStale>("null_when_full"), "overlapping"); }
TEST(Suite, FindsMisalignedBlocks) {
  EXPECT_PRED2(contains, problems<SaboteurMisalign>("null_when_full"), "misaligned");
}
TEST(Suite, FindsLeaks) {
  for (const char* name : {"refill", "refill_alone", "churn", "free_by_others", "sizes_in_turn"}) {
    EXPECT_NE(problems<SaboteurLeak>(name), "") << name;
  }
}

// Returns the reason why the case `tested` of allocator "a" is expected to fail, or the mistake in the list.
std::string reason_or_error(const std::string& json, bool other_seed = false, const std::string& tested = "refill") {
  const std::string file = testing::TempDir() + "expected_failures_test.json";
  std::ofstream(file) << json;
  try {
    const Expectations read(file, "cpu", {"refill", "churn"}, other_seed);
    const Expectation expected = read.of("a", tested);
    return expected.reason + (expected.varies ? ", or passes" : "");
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(Expectations, AreReadByBackEndAndRefusedWhenTheyNameNothing) {
  EXPECT_EQ(reason_or_error(R"([{"allocator": "a", "case": "refill", "reason": "why"}])"), "why");
  EXPECT_EQ(reason_or_error(R"([{"allocator": "a", "case": "refill", "backend": "cuda", "reason": "why"}])"), "");
  EXPECT_PRED2(contains, reason_or_error(R"([{"allocator": "a", "case": "refil", "reason": "why"}])"), "no case refil");
  EXPECT_PRED2(contains, reason_or_error(R"([{"allocator": "a", "case": "refill", "reason": ""}])"), "no reason");
  EXPECT_PRED2(contains, reason_or_error(R"([{"allocator": "a", "case": "refill", "reason": "why", "varies": true}])"),
               "only with");
  EXPECT_PRED2(contains, reason_or_error(R"([{"allocator": "a", "case": "*", "backend": "cpu", "reason": "why"}])"),
               "only where all vary");
}

TEST(Expectations, OnTheCpuOnlyAnotherSeedChangesHowACaseEnds) {
  constexpr const char* fails = R"([{"allocator": "a", "case": "refill", "reason": "why"}])";
  EXPECT_EQ(reason_or_error(fails, false), "why");
  EXPECT_EQ(reason_or_error(fails, true), "why, or passes");
  constexpr const char* varies =
      R"([{"allocator": "a", "case": "refill", "backend": "cpu", "reason": "why", "varies": true}])";
  EXPECT_EQ(reason_or_error(varies, false), "");
  EXPECT_EQ(reason_or_error(varies, true), "why, or passes");
}

TEST(Expectations, AStarStandsForTheCasesWithoutAnEntry) {
  constexpr const char* list = R"([{"allocator": "a", "case": "*", "backend": "cpu", "reason": "all", "varies": true},
                                   {"allocator": "a", "case": "refill", "reason": "why"}])";
  EXPECT_EQ(reason_or_error(list, false, "refill"), "why");
  EXPECT_EQ(reason_or_error(list, false, "churn"), "");
  EXPECT_EQ(reason_or_error(list, true, "churn"), "all, or passes");
}

}  // namespace
}  // namespace allocbench::contract
