// Traced<Heap<A>> is a heap that records each malloc and free of your kernels.
//
//   allocbench::Traced<allocbench::Heap<allocbench::Comb>> heap({}, stream, 64 << 20);
//   my_kernel<<<blocks, threads, 0, stream.native()>>>(heap.handle());
//   heap.end_kernel("build", {blocks, threads});     // after each kernel that uses the heap
//   heap.write("my.trace");
//
// docs/try-your-application.md describes the trace. Link allocbench::traces.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "allocators/support/adaptors/trace_recorder.hpp"
#include "allocators/support/adaptors/traced.hpp"
#include "allocbench/heap.hpp"
#include "traces/trace_file.hpp"

namespace allocbench {

template <class HeapType>
class Traced;

template <Allocator A>
class Traced<Heap<A>> {
  static_assert(A::traits.pool == PoolLocation::arena || A::traits.pool == PoolLocation::own,
                "a trace names the blocks of a pool; this design keeps blocks in the device heap, too");
  static_assert(A::traits.frees != Frees::in_bulk, "a trace has frees of single blocks; this design frees in bulk");

 public:
  using Handle = TracedHandle<typename Heap<A>::Handle>;

  // Makes the heap. The arguments after `options` are those of Heap<A>. The recorder takes additional device memory: at
  // least 24 B for each call that the buffers can record for one kernel (TraceOptions). It also takes 4 B for each
  // possible block address. With an alignment of 16 B, this is a quarter of the pool.
  template <class... Arguments>
  explicit Traced(const TraceOptions& options, simt::Stream& stream, Arguments&&... arguments)
      : heap_(stream, std::forward<Arguments>(arguments)...),
        recorder_(stream, heap_.pool(), A::traits.alignment, options) {
    recorder_.trace().allocator = std::string(A::traits.name);
    recorder_.trace().pool_bytes = heap_.pool_bytes();
  }

  // Returns the handle for one kernel. Get a new handle after each end_kernel().
  Handle handle() const { return Handle(heap_.handle(), recorder_.ledger()); }

  // Stores the calls of the kernel that ran, or of several kernels with one shape that count as one. Waits for the
  // kernel. Calls that exceed the buffers are lost. trace().lost() counts them, and trace.json has their number for
  // each kernel.
  void end_kernel(std::string name, simt::LaunchShape shape) { recorder_.end_kernel(std::move(name), shape); }

  const traces::Trace& trace() const { return recorder_.trace(); }
  // Throws traces::TraceError if the folder already contains a trace or cannot be written.
  void write(const std::filesystem::path& folder) const { traces::write_trace(trace(), folder); }

  Heap<A>& heap() { return heap_; }

 private:
  Heap<A> heap_;
  TraceRecorder recorder_;
};

}  // namespace allocbench
