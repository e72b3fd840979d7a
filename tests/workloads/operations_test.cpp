// The counting context counts every kind of operation once, and Counted<A> changes nothing else.
#include "workloads/operations.hpp"

#include <gtest/gtest.h>

#include "allocators/regeff/atomic_malloc.hpp"
#include "tests/workloads/sampling.hpp"

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
    *counts = counting.counts();
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

// One fetch_add and one exchange per malloc and per free: SlotMalloc with room at the first slot it tries.
TEST(Operations, AreCountedPerCall) {
  Operations::Parameters parameters;
  parameters.threads = 100;
  const test::Sampled result = test::sampled<Operations, test::SlotMalloc<test::Fault::none>>(parameters);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.blocks, 200u) << "the timed blocks and the counted ones";
  EXPECT_DOUBLE_EQ(result.counter("operations_per_malloc"), 2);
  EXPECT_DOUBLE_EQ(result.counter("updates_per_malloc"), 2);
  EXPECT_DOUBLE_EQ(result.counter("compare_exchanges_per_malloc"), 0);
  EXPECT_DOUBLE_EQ(result.counter("operations_per_free"), 2);
  EXPECT_DOUBLE_EQ(result.counter("updates_per_free"), 1);
}

TEST(Operations, AFreeThatDoesNothingCostsNothing) {
  Operations::Parameters parameters;
  parameters.threads = 64;
  EXPECT_DOUBLE_EQ((test::sampled<Operations, AtomicMalloc>(parameters).counter("operations_per_free")), 0);
}

}  // namespace
}  // namespace allocbench
