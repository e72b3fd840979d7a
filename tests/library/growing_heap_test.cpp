// These tests check heaps whose pool grows. growing_heap.cu runs the same checks on a GPU.
#include "tests/library/growing_heap.hpp"

#include <gtest/gtest.h>

namespace allocbench {
namespace {

TEST(GrowingHeap, ServesWhatItGrewBy) { EXPECT_EQ(growing::problem_of_growth(), ""); }

TEST(GrowingHeap, KeepsBlocksWhereTheyAre) { EXPECT_EQ(growing::problem_of_blocks(), ""); }

TEST(GrowingHeap, StaysAsLargeWhenItIsEmptied) {
  simt::Device device(0);
  simt::Stream stream(device);
  GrowingHeap<Comb> heap(stream, 1 << 20, 8 << 20, {.chunk_bytes = 64 << 10});
  heap.grow(2 << 20);
  EXPECT_EQ(growing::takes_all(heap, stream, 1024), "");
  heap.reset();
  EXPECT_EQ(heap.pool_bytes(), 2u << 20);
  EXPECT_EQ(heap.usage().blocks, 0u);
  EXPECT_EQ(heap.usage().free_bytes, 2u << 20);
  EXPECT_EQ(growing::takes_all(heap, stream, 1024), "");
  EXPECT_EQ(heap.check(), "");
}

TEST(GrowingHeap, NeverShrinks) {
  simt::Device device(0);
  simt::Stream stream(device);
  GrowingHeap<Comb> heap(stream, 2 << 20, 8 << 20);
  heap.grow(1 << 20);
  EXPECT_EQ(heap.pool_bytes(), 2u << 20);
}

TEST(GrowingHeap, SaysWhatItCannotDo) {
  simt::Device device(0);
  simt::Stream stream(device);
  GrowingHeap<Comb> heap(stream, 1 << 20, 4 << 20);
  try {
    heap.grow(5 << 20);
    FAIL() << "it grew beyond what was reserved";
  } catch (const simt::Fault& fault) {
    EXPECT_EQ(fault.kind(), simt::FaultKind::out_of_memory);
    EXPECT_STREQ(fault.what(), "5242880 bytes are more than the 4194304 that are reserved");
  }
  EXPECT_EQ(heap.pool_bytes(), 1u << 20);
  EXPECT_EQ(growing::takes_all(heap, stream, 4096), "");
  EXPECT_THROW((GrowingHeap<Comb>(stream, 8 << 20, 4 << 20)), Unsupported);
  EXPECT_THROW((GrowingHeap<Comb>(stream, 0, 4 << 20)), Unsupported);
  EXPECT_THROW((GrowingHeap<Comb>(stream, 4096, 64 << 20)), Unsupported);
}

}  // namespace
}  // namespace allocbench
