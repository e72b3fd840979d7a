// These tests check aligned, zeroed and resized requests, and what a heap reports about itself.
#include "allocbench/requests.hpp"

#include <gtest/gtest.h>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/comb/comb.hpp"
#include "allocators/halloc/halloc.hpp"
#include "allocators/kma/kma.hpp"
#include "allocators/random_walk/corw.hpp"
#include "allocators/random_walk/crw.hpp"
#include "allocators/scatteralloc/scatteralloc.hpp"
#include "allocbench/heap.hpp"

namespace allocbench {
namespace {

constexpr simt::LaunchShape shape{2, 64};
constexpr std::uint32_t threads = 128;

struct Wrong {
  std::uint32_t nulls;
  std::uint32_t misaligned;
  std::uint32_t contents;
};

SIMT_FN unsigned char mark_of(std::uint32_t rank) { return static_cast<unsigned char>(1 + rank % 250); }

template <class Thread>
SIMT_FN void count(Thread& thread, std::uint32_t& number, bool wrong) {
  if (wrong) thread.atomic(number).fetch_add(1u, simt::relaxed);
}

// Every thread marks an aligned block and checks the marks. If a block were placed beyond its room, it would overlap
// the block of a neighbour.
struct TakeAligned {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, std::size_t bytes, std::size_t alignment, Wrong* wrong) const {
    auto&& session = attach(handle, thread);
    const std::uint32_t rank = thread.rank_in_grid();
    auto* block = static_cast<unsigned char*>(aligned_malloc(session, thread, bytes, alignment));
    count(thread, wrong->nulls, block == nullptr);
    if (block != nullptr) {
      count(thread, wrong->misaligned, reinterpret_cast<std::uint64_t>(block) % alignment != 0);
      memset(block, mark_of(rank), bytes);
    }
    thread.block_barrier();
    for (std::size_t i = 0; block != nullptr && i < bytes; ++i)
      count(thread, wrong->contents, block[i] != mark_of(rank));
    thread.block_barrier();
    aligned_free(session, thread, block, alignment);
    release_all(session, thread);
    detach(session, thread);
  }
};

template <class A>
class Requests : public testing::Test {
 protected:
  template <class Kernel, class... Arguments>
  Wrong run(Kernel kernel, Arguments... arguments) {
    simt::Buffer<Wrong> wrong(1);
    wrong.fill_bytes(stream_, 0);
    simt::launch(stream_, shape, kernel, heap_.handle(), arguments..., wrong.data());
    return wrong.to_host(stream_)[0];
  }

  simt::Device device_{0};
  simt::Stream stream_{device_};
  Heap<A> heap_{stream_, 512 << 20};  // Halloc needs slabs for each size
};
using Some =
    testing::Types<Comb, Halloc, CollaborativeRandomWalk, ClusteredRandomWalk, Kma, KmaFrom4Bytes, ScatterAlloc>;
TYPED_TEST_SUITE(Requests, Some);

static_assert(alignment_surplus<Comb>(16) == 0 && alignment_surplus<Comb>(32) == 32);
static_assert(alignment_surplus<KmaFrom4Bytes>(4) == 0 && alignment_surplus<KmaFrom4Bytes>(8) == 12);

TYPED_TEST(Requests, AreAligned) {
  for (const std::size_t alignment : {1u, 8u, 16u, 32u, 128u, 256u}) {
    for (const std::size_t bytes : {1u, 24u, 100u}) {
      if (bytes + alignment_surplus<TypeParam>(alignment) > this->heap_.max_request()) continue;  // above one page
      const Wrong wrong = this->run(TakeAligned{}, bytes, alignment);
      EXPECT_EQ(wrong.nulls, 0u) << bytes << " at " << alignment;
      EXPECT_EQ(wrong.misaligned, 0u) << bytes << " at " << alignment;
      EXPECT_EQ(wrong.contents, 0u) << bytes << " at " << alignment;
    }
  }
}

struct Resize {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, Wrong* wrong) const {
    auto&& session = attach(handle, thread);
    auto* block = static_cast<unsigned char*>(calloc(session, thread, 5, 8));
    count(thread, wrong->nulls, block == nullptr);
    for (int i = 0; i < 40; ++i) count(thread, wrong->contents, block[i] != 0);
    memset(block, 7, 40);
    block = static_cast<unsigned char*>(realloc(session, thread, block, 40, 100));
    count(thread, wrong->nulls, block == nullptr);
    for (int i = 0; i < 40; ++i) count(thread, wrong->contents, block[i] != 7);
    block = static_cast<unsigned char*>(realloc(session, thread, block, 100, 20));
    for (int i = 0; i < 20; ++i) count(thread, wrong->contents, block[i] != 7);
    session.free(thread, block);
    release_all(session, thread);
    detach(session, thread);
  }
};

TYPED_TEST(Requests, AreZeroedAndResized) {
  const Wrong wrong = this->run(Resize{});
  EXPECT_EQ(wrong.nulls, 0u);
  EXPECT_EQ(wrong.contents, 0u);
}

// Counts impossible requests that were served, and an empty request that was not.
struct Impossible {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, Wrong* wrong) const {
    if (thread.rank_in_grid() != 0) return;
    constexpr std::size_t most = ~std::size_t{0};
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{48}, std::size_t{1} << 40}) {
      count(thread, wrong->nulls, aligned_malloc(handle, thread, 16, alignment) != nullptr);
    }
    count(thread, wrong->nulls, aligned_malloc(handle, thread, most - 15, 128) != nullptr);
    count(thread, wrong->nulls, calloc(handle, thread, most / 2, 3) != nullptr);
    void* const block = handle.malloc(thread, 16);
    count(thread, wrong->nulls, realloc(handle, thread, block, 16, std::size_t{1} << 40) != nullptr);
    handle.free(thread, block);  // the failed realloc() left the block in use
    count(thread, wrong->contents, realloc(handle, thread, nullptr, 0, 16) == nullptr);
  }
};

TEST(RequestsThatAreImpossible, GetNull) {
  simt::Device device(0);
  simt::Stream stream(device);
  const Heap<Comb> heap(stream, 4 << 20);
  simt::Buffer<Wrong> wrong(1);
  wrong.fill_bytes(stream, 0);
  simt::launch(stream, {1, 32}, Impossible{}, heap.handle(), wrong.data());
  EXPECT_EQ(wrong.to_host(stream)[0].nulls, 0u);
  EXPECT_EQ(wrong.to_host(stream)[0].contents, 0u);
}

struct Take {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, std::uint64_t bytes, void** blocks) const {
    blocks[thread.rank_in_grid()] = handle.malloc(thread, bytes);
  }
};
struct Give {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void** blocks) const {
    handle.free(thread, blocks[thread.rank_in_grid()]);
  }
};

TEST(Usage, OfCombIsExact) {
  simt::Device device(0);
  simt::Stream stream(device);
  const Heap<Comb> heap(stream, 4 << 20, {.chunk_bytes = 64 << 10, .least_chunks = 1});
  EXPECT_EQ(heap.usage().blocks, 0u);
  EXPECT_EQ(heap.usage().bytes, 0u);
  EXPECT_EQ(heap.usage().free_bytes, 4u << 20);
  EXPECT_EQ(heap.usage().largest_request, 4u << 20);

  simt::Buffer<void*> small(threads);
  simt::launch(stream, shape, Take{}, heap.handle(), std::uint64_t{100}, small.data());
  simt::Buffer<void*> large(1);
  simt::launch(stream, {1, 1}, Take{}, heap.handle(), std::uint64_t{200000}, large.data());
  HeapUsage usage = heap.usage();
  EXPECT_EQ(usage.blocks, threads + 1);
  EXPECT_EQ(usage.bytes, threads * 128u + 4 * (64u << 10)) << "slots of 128 B, and four chunks";
  EXPECT_LT(usage.free_bytes, 60u * (64 << 10));
  EXPECT_EQ(heap.check(), "");

  // The largest request that the heap reports is served, and a larger one is not.
  simt::Buffer<void*> rest(1);
  simt::launch(stream, {1, 1}, Take{}, heap.handle(), usage.largest_request + 1, rest.data());
  EXPECT_EQ(rest.to_host(stream)[0], nullptr);
  while (heap.usage().largest_request != 0) {
    simt::launch(stream, {1, 1}, Take{}, heap.handle(), heap.usage().largest_request, rest.data());
    ASSERT_NE(rest.to_host(stream)[0], nullptr);
  }
  EXPECT_EQ(heap.usage().free_bytes, 0u);
  simt::launch(stream, {1, 1}, Take{}, heap.handle(), std::uint64_t{16}, rest.data());
  EXPECT_EQ(rest.to_host(stream)[0], nullptr);

  simt::launch(stream, shape, Give{}, heap.handle(), small.data());
  EXPECT_GT(heap.usage().largest_request, 0u);
}

}  // namespace
}  // namespace allocbench
