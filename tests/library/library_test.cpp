// Heap<A>: memory comes and goes with it, and every allocator's header lives beside the others.
#include <gtest/gtest.h>

#include "allocbench/allocators.hpp"

namespace allocbench {
namespace {

struct TakeAndGive {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, std::uint32_t bytes, std::uint32_t* served) const {
    auto&& session = attach(handle, thread);
    void* const block = session.malloc(thread, bytes);
    if (block != nullptr) thread.atomic(*served).fetch_add(1u, simt::relaxed);
    session.free(thread, block);
    release_all(session, thread);
    detach(session, thread);
  }
};

struct Take {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, std::uint32_t bytes, std::uint32_t* served) const {
    if (handle.malloc(thread, bytes) != nullptr) thread.atomic(*served).fetch_add(1u, simt::relaxed);
  }
};

template <class Kernel, class A>
std::uint32_t served(simt::Stream& stream, const Heap<A>& heap, std::uint32_t bytes) {
  simt::Buffer<std::uint32_t> count(1);
  count.fill_bytes(stream, 0);
  simt::launch(stream, {2, 64}, Kernel{}, heap.handle(), bytes, count.data());
  return count.to_host(stream)[0];
}

template <class A>
class AnyHeap : public testing::Test {};
using Some = testing::Types<Comb, Halloc, CollaborativeRandomWalk, ClusteredRandomWalk, FdgMalloc, Kma, ScatterAlloc>;
TYPED_TEST_SUITE(AnyHeap, Some);

TYPED_TEST(AnyHeap, ServesAKernel) {
  simt::Device device(0);
  simt::Stream stream(device);
  const Heap<TypeParam> heap(stream, 64 << 20);
  EXPECT_EQ(served<TakeAndGive>(stream, heap, 64), 128u);
  EXPECT_EQ(heap.pool_bytes(), 64u << 20);
  EXPECT_GE(heap.max_request(), 64u);
}

TEST(Heap, ResetMakesRoom) {
  simt::Device device(0);
  simt::Stream stream(device);
  Heap<AtomicMalloc> heap(stream, 128 * 64);
  EXPECT_EQ(served<Take>(stream, heap, 64), 128u);
  EXPECT_EQ(served<Take>(stream, heap, 64), 0u);
  heap.reset();
  EXPECT_EQ(served<Take>(stream, heap, 64), 128u);
}

TEST(Heap, HasParameters) {
  simt::Device device(0);
  simt::Stream stream(device);
  CollaborativeRandomWalk::Parameters parameters;
  parameters.page_bytes = 1024;
  const Heap<CollaborativeRandomWalk> heap(stream, 1 << 20, parameters);
  EXPECT_EQ(heap.max_request(), 1024u);
}

TEST(Heap, SetsTheDeviceHeapOfItsDesign) {
  const std::size_t needed = Heap<Halloc>::needed_device_heap(64 << 20);
  EXPECT_GT(needed, 0u);
  simt::Device device(0);
  simt::Stream stream(device);
  const Heap<Halloc> first(stream, 64 << 20);
  EXPECT_EQ(served<TakeAndGive>(stream, first, 8192), 128u);  // more than a slab serves
  try {
    const Heap<Halloc> second(stream, 32 << 20);
    ADD_FAILURE() << "the device heap is in use";
  } catch (const simt::Fault& fault) {
    EXPECT_NE(std::string(fault.what()).find("create this heap first"), std::string::npos) << fault.what();
  }
  const Heap<Halloc> sharing(stream, 32 << 20, {}, DeviceHeap::is_set);
  EXPECT_EQ(served<TakeAndGive>(stream, sharing, 64), 128u);
}

}  // namespace
}  // namespace allocbench
