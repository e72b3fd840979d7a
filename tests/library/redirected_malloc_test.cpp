// These tests check that kernels that call malloc() and free() as in CUDA leave a trace with one include, without any
// other change. trace_malloc.cu does the same with nvcc.
#include <gtest/gtest.h>

#include <cstdint>

#include "allocbench/trace_malloc.hpp"

namespace {

// The list of each thread grows by a node, and every second thread frees this node again.
struct Push {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, void** lists) const {
    const std::uint32_t mine = thread.rank_in_grid();
    void** const node = static_cast<void**>(malloc(16 + mine % 8));
    if (node == nullptr) return;
    *node = lists[mine];
    lists[mine] = node;
    if (mine % 2 == 0) return;
    lists[mine] = *node;
    free(node);
  }
};

}  // namespace

namespace allocbench {
namespace {

TEST(TraceMalloc, RecordsPlainCallsKernelByKernel) {
  constexpr simt::LaunchShape shape{2, 64};
  constexpr std::uint32_t threads = 128;
  MallocTrace trace(1 << 20);
  simt::Device device(0);
  simt::Stream stream(device);
  simt::Buffer<void*> lists(threads);
  lists.fill_bytes(stream, 0);
  stream.synchronize();
  for (const char* name : {"first", "second"}) {
    simt::launch(stream, shape, Push{}, lists.data());
    trace.end_kernel(name, shape);
  }
  const traces::Trace& found = trace.trace();
  ASSERT_EQ(found.kernels.size(), 2u);
  EXPECT_EQ(found.kernels[1].name, "second");
  ASSERT_EQ(found.calls.size(), 2u * (threads + threads / 2));
  EXPECT_EQ(found.lost(), 0u);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < found.calls.size(); ++i) {
    const traces::Call& call = found.calls[i];
    if (call.operation == traces::Operation::malloc) {
      EXPECT_EQ(call.bytes, 16 + call.thread % 8);
      bytes += call.bytes;
      continue;
    }
    EXPECT_EQ(call.thread % 2, 1u);
    EXPECT_EQ(call.block, i - 1);  // block of the malloc before this free
  }
  EXPECT_EQ(bytes, 2u * threads / 8 * (16 * 8 + 28));
}

}  // namespace
}  // namespace allocbench
