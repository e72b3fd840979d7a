// These tests check that Counting<Heap<A>> counts blocks and bytes in use for each design, whichever thread frees.
#include "allocbench/counting.hpp"

#include <gtest/gtest.h>

#include "allocators/comb/comb.hpp"
#include "allocators/halloc/halloc.hpp"
#include "allocators/kma/kma.hpp"
#include "allocators/random_walk/crw.hpp"

namespace allocbench {
namespace {

constexpr simt::LaunchShape shape{4, 64};
constexpr std::uint32_t threads = 256;

// Thread n requests n % 64 + 1 bytes.
struct Take {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void** blocks) const {
    auto&& session = attach(handle, thread);
    const std::uint32_t rank = thread.rank_in_grid();
    blocks[rank] = session.malloc(thread, rank % 64 + 1);
    if (blocks[rank] != nullptr) memset(blocks[rank], 0xff, rank % 64 + 1);
    detach(session, thread);
  }
};

struct AskTooMuch {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, std::size_t bytes, std::uint32_t* served) const {
    auto&& session = attach(handle, thread);
    if (session.malloc(thread, bytes) != nullptr) thread.atomic(*served).fetch_add(1u, simt::relaxed);
    detach(session, thread);
  }
};

// Each thread frees the block of the thread whose rank is higher by 100, modulo the number of threads.
struct GiveBack {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void** blocks, std::uint32_t first) const {
    auto&& session = attach(handle, thread);
    const std::uint32_t rank = (thread.rank_in_grid() + 100) % threads;
    session.free(thread, rank < first ? nullptr : blocks[rank]);
    detach(session, thread);
  }
};

constexpr std::uint64_t bytes_from(std::uint32_t first) {
  std::uint64_t bytes = 0;
  for (std::uint32_t rank = first; rank < threads; ++rank) bytes += rank % 64 + 1;
  return bytes;
}

template <class A>
class CountedHeap : public testing::Test {};
using Some = testing::Types<Comb, Halloc, ClusteredRandomWalk, KmaFrom4Bytes>;
TYPED_TEST_SUITE(CountedHeap, Some);

TYPED_TEST(CountedHeap, SaysWhatIsInUse) {
  simt::Device device(0);
  simt::Stream stream(device);
  Counting<Heap<TypeParam>> heap(stream, 64 << 20);
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, shape, Take{}, heap.handle(), blocks.data());
  EXPECT_EQ(heap.usage().blocks, threads);
  EXPECT_EQ(heap.usage().bytes, bytes_from(0));
  EXPECT_EQ(heap.usage().refused, 0u);
  simt::launch(stream, shape, GiveBack{}, heap.handle(), blocks.data(), 200u);
  EXPECT_EQ(heap.usage().blocks, 200u);
  EXPECT_EQ(heap.usage().bytes, bytes_from(0) - bytes_from(200));
  EXPECT_EQ(heap.check(), "");
}

TYPED_TEST(CountedHeap, CountsWhatWasRefused) {
  simt::Device device(0);
  simt::Stream stream(device);
  Counting<Heap<TypeParam>> heap(stream, 64 << 20);
  simt::Buffer<std::uint32_t> served(1);
  served.fill_bytes(stream, 0);
  for (const std::size_t bytes : {std::size_t{128} << 20, ~std::size_t{0}, ~std::size_t{0} - 8}) {
    simt::launch(stream, {1, 32}, AskTooMuch{}, heap.handle(), bytes, served.data());
  }
  EXPECT_EQ(served.to_host(stream).front(), 0u);
  EXPECT_EQ(heap.usage().refused, 3 * 32u);
  EXPECT_EQ(heap.usage().blocks, 0u);
}

TEST(Counting, IsEmptyAfterReset) {
  simt::Device device(0);
  simt::Stream stream(device);
  Counting<Heap<Comb>> heap(stream, 1 << 20);
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, shape, Take{}, heap.handle(), blocks.data());
  heap.reset();
  EXPECT_EQ(heap.usage().blocks, 0u);
  EXPECT_EQ(heap.usage().bytes, 0u);
}

TEST(Counting, AgreesWithWhatCombSaysOfItself) {
  simt::Device device(0);
  simt::Stream stream(device);
  Counting<Heap<Comb>> heap(stream, 1 << 20);
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, shape, Take{}, heap.handle(), blocks.data());
  EXPECT_EQ(heap.usage().blocks, heap.heap().usage().blocks);
  EXPECT_GT(heap.heap().usage().bytes, heap.usage().bytes) << "rounding, and the sizes before blocks";
}

}  // namespace
}  // namespace allocbench
