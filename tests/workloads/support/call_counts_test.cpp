// These tests check that the counting context counts every kind of operation once, that Counted<A> changes nothing
// else, and that statistics follow from hand-made records.
#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/random_walk/corw_reworked.hpp"
#include "allocators/simple_queue/simple_queue.hpp"
#include "allocators/simple_queue/simple_queue_reworked.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_free/alloc_free.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/verification/call_counter.hpp"

namespace allocbench {
namespace {

struct OneOfEach {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* word, simt::OperationCounts* counts) const {
    simt::CountingThread<Thread> counting(thread);
    const auto atomic = counting.atomic(*word);
    std::uint32_t expected = atomic.load(simt::relaxed);
    static_cast<void>(atomic.compare_exchange(expected, 7u, simt::acq_rel, simt::relaxed));
    expected = 1000;
    static_cast<void>(atomic.compare_exchange(expected, 8u, simt::acq_rel, simt::relaxed));
    atomic.store(3u, simt::release);
    static_cast<void>(atomic.exchange(4u, simt::acq_rel));
    static_cast<void>(atomic.fetch_add(1u, simt::relaxed));
    static_cast<void>(atomic.fetch_sub(1u, simt::relaxed));
    static_cast<void>(atomic.fetch_or(1u, simt::relaxed));
    static_cast<void>(atomic.fetch_and(6u, simt::relaxed));
    static_cast<void>(atomic.fetch_xor(2u, simt::relaxed));
    static_cast<void>(atomic.fetch_min(5u, simt::relaxed));
    static_cast<void>(atomic.fetch_max(9u, simt::relaxed));
    counting.probe(simt::Step::walk);
    counting.note(simt::Note::ticket, 12);
    *counts = counting.counts();
    if (counting.ticket() != 12 || counting.pages_seen() != simt::nothing_noted) counts->loads = 99;
  }
};

TEST(CountingThread, CountsEachOperationAndPassesItOn) {
  test::CpuDevice cpu;
  simt::Buffer<std::uint32_t> word(1);
  simt::Buffer<simt::OperationCounts> counts(1);
  word.fill_bytes(cpu.stream, 0);
  simt::launch(cpu.stream, {1, 1}, OneOfEach{}, word.data(), counts.data());
  const simt::OperationCounts found = counts.to_host(cpu.stream).front();
  EXPECT_EQ(found.loads, 1u);
  EXPECT_EQ(found.stores, 1u);
  EXPECT_EQ(found.updates, 8u);
  EXPECT_EQ(found.compare_exchanges, 2u);
  EXPECT_EQ(found.lost_exchanges, 1u);
  EXPECT_EQ(found.operations(), 12u);
  EXPECT_EQ(found.steps[static_cast<std::uint32_t>(simt::Step::walk)], 1u);
  EXPECT_EQ(word.to_host(cpu.stream).front(), 9u);
}

struct Spin {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* word, simt::DeadlineView deadline) const {
    simt::CountingThread<Thread> counting(thread, deadline);
    while (counting.atomic(*word).fetch_add(1u, simt::relaxed) != 0x10000) {
    }
  }
};

TEST(CountingThread, EndsItselfAfterItsDeadline) {
  test::CpuDevice cpu;
  simt::Buffer<std::uint32_t> word(1);
  simt::Deadline deadline(cpu.stream);
  const auto spins = [&](std::uint32_t from) {
    word.fill_bytes(cpu.stream, 0);
    simt::copy_to_device(cpu.stream, word.data(), &from, sizeof from);
    simt::launch(cpu.stream, {1, 1}, Spin{}, word.data(), deadline.view());
    return word.to_host(cpu.stream).front() - from;
  };
  deadline.start(0);
  EXPECT_EQ(spins(0x20000), 63u) << "it looks at every 64th operation, before it";
  EXPECT_TRUE(deadline.passed());
  deadline.start(3600);
  EXPECT_EQ(spins(0x10000 - 500), 501u);
  EXPECT_FALSE(deadline.passed());
  deadline.start(0);
  deadline.stop();
  EXPECT_EQ(spins(0x10000 - 500), 501u);
  EXPECT_FALSE(deadline.passed());
}

double value_of(const CallStatistics& statistics, const std::string& metric, std::size_t pass = 0) {
  for (const auto& [name, values] : statistics.values()) {
    if (name == metric) return values.at(pass);
  }
  throw std::out_of_range("no metric " + metric);
}

std::map<std::uint64_t, std::uint64_t> bins_of(const CallStatistics& statistics, const std::string& name) {
  for (const Histogram& each : statistics.histograms()) {
    if (each.name == name) return each.bins;
  }
  return {};
}

// Returns the counts of a pass of alloc_free with one request per thread.
template <class A>
CallStatistics counted(std::uint32_t threads, std::size_t pool_bytes = 1 << 20) {
  AllocFree::Parameters parameters;
  parameters.threads = threads;
  parameters.request_bytes = 16;
  test::WorkloadRig<AllocFree, A, CallKernels> rig(parameters, pool_bytes);
  CallCounter counter(rig.stream(), rig.run->mallocs_at_most());
  CallStatistics statistics(A::traits.step);
  static_cast<void>(rig.sample(rig.allocator.observed(counter.start(), {})));
  counter.add_to(statistics);
  return statistics;
}

// A malloc makes one fetch_add and one exchange, because its first slot is free. A free makes a fetch_add and a store.
TEST(Counted, CountsOperationsPerCall) {
  const CallStatistics statistics = counted<test::SlotMalloc<test::Fault::none>>(100);
  EXPECT_DOUBLE_EQ(value_of(statistics, "operations_per_malloc"), 2);
  EXPECT_DOUBLE_EQ(value_of(statistics, "updates_per_malloc"), 2);
  EXPECT_DOUBLE_EQ(value_of(statistics, "compare_exchanges_per_malloc"), 0);
  EXPECT_DOUBLE_EQ(value_of(statistics, "operations_per_free"), 2);
  EXPECT_DOUBLE_EQ(value_of(statistics, "updates_per_free"), 1);
  EXPECT_DOUBLE_EQ(value_of(statistics, "steps_per_malloc"), 2) << "a step is an update here";
  EXPECT_DOUBLE_EQ(value_of(statistics, "warp_steps_per_malloc"), 2);
  EXPECT_EQ(bins_of(statistics, "steps"), (std::map<std::uint64_t, std::uint64_t>{{2, 100}}));
  EXPECT_TRUE(bins_of(statistics, "pages_found").empty());
}

TEST(Counted, CallsEndAfterTheDeadline) {
  AllocFree::Parameters parameters;
  parameters.threads = 100;
  test::WorkloadRig<AllocFree, test::SlotMalloc<test::Fault::none>, CallKernels> rig(parameters);
  simt::Deadline deadline(rig.stream());
  rig.allocator.end_calls_at(deadline.view());
  deadline.start(0);
  EXPECT_NE(rig.sample(rig.allocator.observed({}, {})), "") << "no call came back";
  EXPECT_TRUE(deadline.passed());
  deadline.start(3600);
  rig.allocator.reset(rig.stream());
  EXPECT_EQ(rig.sample(rig.allocator.observed({}, {})), "");
  EXPECT_FALSE(deadline.passed());
}

TEST(Counted, AFreeThatDoesNothingCostsNothing) {
  EXPECT_DOUBLE_EQ(value_of(counted<AtomicMalloc>(64), "operations_per_free"), 0);
}

// The mean turn of N requests is (N + 1) / 2, in whatever order they come.
TEST(Counted, RequestsOfAQueueTakeTurns) {
  const CallStatistics statistics = counted<SimpleQueue>(1000);
  EXPECT_DOUBLE_EQ(value_of(statistics, "steps_per_malloc"), 500.5);
  EXPECT_GE(value_of(statistics, "warp_steps_per_malloc"), 516) << "32 tickets in a row for every warp";
  EXPECT_LE(value_of(statistics, "warp_steps_per_malloc"), 1000);
  EXPECT_LT(value_of(counted<SimpleQueueReworked>(1000), "steps_per_malloc"), 500.5);
}

TEST(Counted, RequestsOfAnEmptyQueueLookOnce) {
  const CallStatistics statistics = counted<SimpleQueue>(64, 256 * 2);
  // Two requests are served, with turns 1 and 2.
  EXPECT_DOUBLE_EQ(value_of(statistics, "steps_per_malloc"), 65.0 / 64);
}

// In an empty pool a group of k lanes sees 32 k free pages and takes one step.
TEST(Counted, WarpsOfCoRWSeeTheirPages) {
  const CallStatistics statistics = counted<CollaborativeRandomWalkReworked>(32, std::size_t{256} << 16);
  EXPECT_DOUBLE_EQ(value_of(statistics, "steps_per_malloc"), 1);
  EXPECT_DOUBLE_EQ(value_of(statistics, "retried_mallocs"), 0);
  const auto found = bins_of(statistics, "pages_found");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LE(found.begin()->first, 1024u);
  EXPECT_GT(found.begin()->first, 900u) << "parts of the warp may share a word";
}

MallocRecord record(std::uint32_t thread, std::uint32_t steps, std::uint32_t warp_begins = 0) {
  return {.thread = thread,
          .steps = steps,
          .ticket = simt::nothing_noted,
          .lane = static_cast<std::uint16_t>(thread - warp_begins),
          .pages_seen = nothing_seen};
}

TEST(CallStatistics, TheSlowestLaneCountsForItsWarp) {
  // In a block of 40 threads, the second warp begins at 32. The next block's first warp begins at 40.
  const std::vector<MallocRecord> records{record(0, 1), record(31, 9), record(32, 4, 32), record(39, 2, 32),
                                          record(40, 6, 40)};
  CallStatistics statistics(StepUnit::probe);
  CallSums sums;
  sums.mallocs.calls = records.size();
  statistics.add_pass(sums, records);
  EXPECT_DOUBLE_EQ(value_of(statistics, "steps_per_malloc"), 22.0 / 5);
  EXPECT_DOUBLE_EQ(value_of(statistics, "warp_steps_per_malloc"), (9 + 4 + 6) / 3.0);
  EXPECT_DOUBLE_EQ(value_of(statistics, "retried_mallocs"), 4);
  EXPECT_EQ(bins_of(statistics, "steps"), (std::map<std::uint64_t, std::uint64_t>{{1, 1}, {2, 1}, {4, 2}, {8, 1}}));
}

TEST(CallStatistics, TheNthMallocsOfAWarpCountTogether) {
  // Lane 0 calls twice, and its first call is recorded after that of lane 1.
  const std::vector<MallocRecord> records{record(1, 3), record(0, 5), record(0, 2)};
  CallStatistics statistics(StepUnit::probe);
  statistics.add_pass({}, records);
  statistics.add_pass({}, records);
  EXPECT_DOUBLE_EQ(value_of(statistics, "warp_steps_per_malloc", 1), (5 + 2) / 2.0);
  EXPECT_EQ(bins_of(statistics, "steps").at(2), 4u) << "over both passes";
}

// Each core counts its own warps.
TEST(CallStatistics, WarpsOfAllCoresCount) {
  constexpr std::uint32_t threads = 5 << 15;
  std::vector<MallocRecord> records;
  double sum = 0;
  for (std::uint32_t call = 0; call < 2; ++call) {
    for (std::uint32_t i = 0; i < threads; ++i) {
      const auto thread = static_cast<std::uint32_t>(std::uint64_t{77'777} * i % threads);  // not in order
      const std::uint32_t of_warp = thread / 32 % 100 + 200 * call;
      records.push_back(record(thread, of_warp + thread % 32, thread / 32 * 32));
      if (thread % 32 == 31) sum += of_warp + 31;
    }
  }
  CallStatistics statistics(StepUnit::probe);
  statistics.add_pass({}, records);
  EXPECT_DOUBLE_EQ(value_of(statistics, "warp_steps_per_malloc"), sum / (threads / 32 * 2));
}

TEST(CallStatistics, TurnsAreRanksOfTickets) {
  std::vector<MallocRecord> records{record(0, 0), record(1, 0), record(2, 0), record(3, 0)};
  records[0].ticket = 700;
  records[1].ticket = 500;
  records[2].ticket = 700;  // two records have this ticket
  CallStatistics statistics(StepUnit::turn);
  statistics.add_pass({}, records);
  EXPECT_DOUBLE_EQ(value_of(statistics, "steps_per_malloc"), (2 + 1 + 2 + 1) / 4.0);
}

TEST(CallStatistics, NothingCountedGivesNothing) {
  CallStatistics statistics;
  statistics.add_pass({}, {});
  EXPECT_TRUE(statistics.values().empty());
  EXPECT_TRUE(statistics.histograms().empty());
}

}  // namespace
}  // namespace allocbench
