// These tests check that the trace of Traced<Heap<A>> has all calls of each thread in their order, and that each free
// names its malloc.
#include "allocbench/traced.hpp"

#include <gtest/gtest.h>

#include <map>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/comb/comb.hpp"
#include "allocators/random_walk/corw.hpp"
#include "allocators/slab/slab.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using traces::Call;
using traces::no_block;
using traces::Operation;

// Each thread requests a block of 16 B and one of 17 to 48 B, and frees the first.
struct Build {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void** blocks) const {
    const std::uint32_t rank = thread.rank_in_grid();
    auto&& session = attach(handle, thread);
    void* const first = session.malloc(thread, 16);
    blocks[rank] = session.malloc(thread, 17 + rank % 32);
    session.free(thread, first);
    detach(session, thread);
  }
};

// Each odd thread frees the block of the next even one, and then null.
struct FreeOthers {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void** blocks) const {
    const std::uint32_t rank = thread.rank_in_grid();
    if (rank % 2 == 0) return;
    auto&& session = attach(handle, thread);
    session.free(thread, blocks[(rank + 1) % thread.grid_size()]);
    session.free(thread, static_cast<void*>(nullptr));
    detach(session, thread);
  }
};

constexpr simt::LaunchShape shape{4, 64};
constexpr std::uint32_t threads = 256;

template <class A>
class TracedHeap : public ::testing::Test {};
using Some = ::testing::Types<Comb, CollaborativeRandomWalk, Slab>;
TYPED_TEST_SUITE(TracedHeap, Some);

TYPED_TEST(TracedHeap, HasEveryCallInTheOrderOfItsThread) {
  simt::Device device(0);
  simt::Stream stream(device);
  Traced<Heap<TypeParam>> heap({.clocks = true}, stream, 4 << 20);
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, shape, Build{}, heap.handle(), blocks.data());
  heap.end_kernel("build", shape);
  simt::launch(stream, shape, FreeOthers{}, heap.handle(), blocks.data());
  heap.end_kernel("tear down", shape);

  const traces::Trace& trace = heap.trace();
  EXPECT_EQ(trace.allocator, TypeParam::traits.name);
  EXPECT_EQ(trace.pool_bytes, 4u << 20);
  EXPECT_EQ(trace.kernels,
            (std::vector<traces::Kernel>{{"build", 4, 64, 3 * threads, 0}, {"tear down", 4, 64, threads, 0}}));
  require_possible(trace, "recorded");
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    const Call* const calls = &trace.calls[3 * thread];
    EXPECT_EQ(calls[0].bytes, 16u);
    EXPECT_EQ(calls[1].bytes, 17u + thread % 32);
    EXPECT_EQ(calls[2].operation, Operation::free);
    EXPECT_EQ(calls[2].block, 3 * thread);
    EXPECT_LE(calls[0].clock, calls[2].clock);
  }
  for (std::uint32_t odd = 1; odd < threads; odd += 2) {
    const Call* const calls = &trace.calls[3 * threads + odd - 1];
    EXPECT_EQ(calls[0].thread, odd);
    EXPECT_EQ(calls[0].block, 3 * ((odd + 1) % threads) + 1) << "the second malloc of the next even thread";
    EXPECT_EQ(calls[1].block, no_block);
  }
}

TEST(Traced, CountsWhatItsBuffersHaveNoRoomFor) {
  simt::Device device(0);
  simt::Stream stream(device);
  Traced<Heap<Comb>> heap({.calls_per_kernel = 300}, stream, 4 << 20);
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, shape, Build{}, heap.handle(), blocks.data());
  heap.end_kernel("build", shape);
  const traces::Kernel& kernel = heap.trace().kernels.front();
  EXPECT_EQ(kernel.calls + kernel.lost, 3 * threads);
  EXPECT_GT(kernel.calls, 0u);
  EXPECT_LE(kernel.calls, 9u * 64) << "chunks for 300 calls, and one for each of four buffers";
  require_possible(heap.trace(), "recorded");
  simt::launch(stream, shape, FreeOthers{}, heap.handle(), blocks.data());
  heap.end_kernel("tear down", shape);
  EXPECT_EQ(heap.trace().kernels.back().lost, 0u) << "buffers are empty again";
}

// Four warps share one buffer of a few chunks.
TEST(Traced, LosesAndReordersNothingUnderAnySchedule) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(200); ++seed) {
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    options.strategy = simt::StrategyKind::swarm;
    options.seed = seed;
    simt::Device device(options);
    simt::Stream stream(device);
    Traced<Heap<Comb>> heap({.calls_per_kernel = 64}, stream, 1 << 20);
    simt::Buffer<void*> blocks(128);
    simt::launch(stream, {2, 64}, Build{}, heap.handle(), blocks.data());
    heap.end_kernel("build", {2, 64});
    const traces::Trace& trace = heap.trace();
    ASSERT_EQ(trace.kernels[0].calls + trace.kernels[0].lost, 3u * 128) << "seed " << seed;
    ASSERT_NO_THROW(require_possible(trace, "recorded")) << "seed " << seed;
    std::map<std::uint32_t, std::vector<std::uint64_t>> by_thread;
    for (const Call& call : trace.calls) by_thread[call.thread].push_back(call.bytes);
    for (const auto& [thread, bytes] : by_thread) {
      std::size_t next = 0;  // a thread's recorded calls are some of its three, in their order
      for (const std::uint64_t expected : {std::uint64_t{16}, std::uint64_t{17 + thread % 32}, std::uint64_t{0}}) {
        if (next < bytes.size() && bytes[next] == expected) ++next;
      }
      ASSERT_EQ(next, bytes.size()) << "thread " << thread << ", seed " << seed;
    }
  }
}

TEST(Traced, HasRefusedMallocs) {
  simt::Device device(0);
  simt::Stream stream(device);
  Traced<Heap<AtomicMalloc>> heap({}, stream, 4096);
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, shape, Build{}, heap.handle(), blocks.data());
  heap.end_kernel("build", shape);
  require_possible(heap.trace(), "recorded");
  std::uint64_t served = 0;
  for (const Call& call : heap.trace().calls) {
    if (call.operation == Operation::malloc && call.block != no_block) ++served;
  }
  EXPECT_GT(served, 0u);
  EXPECT_LE(served, 256u) << "4,096 B have no more blocks of 16 B";
}

}  // namespace
}  // namespace allocbench
