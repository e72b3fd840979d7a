// These tests check that Heap<A> allocates and frees its memory, and that the headers of all allocators can be included
// together.
#include <gtest/gtest.h>

#include <sstream>

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

struct TakeOne {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void** block) const {
    auto&& session = attach(handle, thread);
    *block = session.malloc(thread, 64);
    detach(session, thread);
  }
};

struct GiveBack {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void* block) const {
    auto&& session = attach(handle, thread);
    session.free(thread, block);  // the line that a fault names
    detach(session, thread);
  }
};

template <class A>
void* one_block(simt::Stream& stream, const Heap<A>& heap) {
  simt::Buffer<void*> block(1);
  simt::launch(stream, {1, 1}, TakeOne{}, heap.handle(), block.data());
  return block.to_host(stream)[0];
}

TYPED_TEST(AnyHeap, RefusesABlockOfAnotherHeap) {
  simt::Device device(0);
  simt::Stream stream(device);
  device.set_device_heap_bytes(128 << 20);
  const Heap<TypeParam> one(stream, 64 << 20, {}, DeviceHeap::is_set);
  const Heap<TypeParam> other(stream, 64 << 20, {}, DeviceHeap::is_set);
  void* const block = one_block(stream, one);
  ASSERT_NE(block, nullptr);
  simt::launch(stream, {1, 1}, GiveBack{}, other.handle(), static_cast<void*>(nullptr));
  if (TypeParam::traits.pool != PoolLocation::device_heap) {
    try {
      simt::launch(stream, {1, 1}, GiveBack{}, other.handle(), block);
      ADD_FAILURE() << "freed";
    } catch (const simt::Fault& fault) {
      EXPECT_EQ(fault.kind(), simt::FaultKind::failed_check);
      std::ostringstream address;
      address << "free of " << block << ", which does not lie in this heap, 0x";
      EXPECT_NE(std::string(fault.what()).find(address.str()), std::string::npos) << fault.what();
      EXPECT_NE(std::string(fault.what()).find("library_test.cpp:"), std::string::npos) << fault.what();
    }
  }
  simt::launch(stream, {1, 1}, GiveBack{}, one.handle(), block);
}

TEST(Heap, NamesTheRangeThatAForeignBlockIsOutsideOf) {
  simt::Device device(0);
  simt::Stream stream(device);
  const Heap<AtomicMalloc> heap(stream, 1 << 20);
  const auto begin = reinterpret_cast<std::uint64_t>(one_block(stream, heap));  // the first block lies at the base
  const auto range = [&] {
    std::ostringstream text;
    text << std::hex << "this heap, 0x" << begin << " to 0x" << begin + (1 << 20);
    return text.str();
  }();
  for (const std::uint64_t address : {begin - 1, begin + (1 << 20), std::uint64_t{16}}) {
    try {
      simt::launch(stream, {1, 1}, GiveBack{}, heap.handle(), reinterpret_cast<void*>(address));
      ADD_FAILURE() << "freed " << address;
    } catch (const simt::Fault& fault) {
      EXPECT_NE(std::string(fault.what()).find(range), std::string::npos) << fault.what();
    }
  }
  simt::launch(stream, {1, 1}, GiveBack{}, heap.handle(), reinterpret_cast<void*>(begin + (1 << 20) - 1));
}

// A kernel whose parameter has the type of the allocator accepts the handle, too.
struct GiveBackToComb {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Comb handle, void* block) const {
    handle.free(thread, block);
  }
};

TEST(Heap, GivesAHandleThatIsAnAllocator) {
  simt::Device device(0);
  simt::Stream stream(device);
  const Heap<Comb> heap(stream, 1 << 20);
  const Comb handle = heap.handle();
  simt::launch(stream, {1, 1}, GiveBackToComb{}, handle, one_block(stream, heap));
}

TEST(Heap, OfADeviceThatIsNotThereIsAFault) {
  try {
    simt::Device device(7);
    ADD_FAILURE() << "made";
  } catch (const simt::Fault& fault) {
    EXPECT_EQ(fault.kind(), simt::FaultKind::environment);
    EXPECT_STREQ(fault.what(), "device 7 does not exist; the CPU back end has device 0");
  }
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
