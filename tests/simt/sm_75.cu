// This file is compiled for sm_75, the oldest GPUs that CUDA 13 supports. It has the group operations, and an allocator
// for each way to aggregate requests. It compiles only if code that needs a newer GPU has another form for older
// architectures.
#include "allocators/bulkalloc/bulkalloc.hpp"
#include "allocators/comb/comb.hpp"
#include "allocators/gallatin/gallatin.hpp"
#include "allocators/halloc/halloc_reworked.hpp"
#include "allocators/llvm_libc/llvm_libc.hpp"
#include "allocators/random_walk/rw_malloc_reworked.hpp"
#include "allocators/support/contract/session.hpp"
#include "allocators/xmalloc/xmalloc_reworked.hpp"
#include "simt/simt.hpp"

namespace allocbench {
namespace {

struct Groups {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t* words) const {
    const auto group = thread.converged().match_any(thread.lane() % 3);
    const std::uint32_t sum = group.reduce_add(thread.lane()) + group.reduce_max(thread.lane());
    thread.atomic(words[group.exclusive_sum(sum) % 2]).fetch_add(sum, simt::acq_rel);
    group.sync();
    thread.spin_hint();
  }
};

struct MallocAndFree {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::size_t bytes) const {
    auto&& session = attach(allocator, thread);
    session.free(thread, session.malloc(thread, bytes));
    detach(session, thread);
  }
};

}  // namespace

// Nothing calls this function. The test is that it compiles.
void launch_on_sm_75(simt::Stream& stream, std::uint64_t* words, const HallocReworked& halloc,
                     const RandomWalkMallocReworked& rw_malloc, const XMallocReworked& xmalloc, const Comb& comb,
                     const Gallatin& gallatin, const BulkAlloc& bulkalloc, const LlvmLibc& llvm_libc) {
  constexpr simt::LaunchShape shape{1, 32};
  constexpr std::size_t bytes = 16;
  simt::launch(stream, shape, Groups{}, words);
  simt::launch(stream, shape, MallocAndFree{}, halloc, bytes);
  simt::launch(stream, shape, MallocAndFree{}, rw_malloc, bytes);
  simt::launch(stream, shape, MallocAndFree{}, xmalloc, bytes);
  simt::launch(stream, shape, MallocAndFree{}, comb, bytes);
  simt::launch(stream, shape, MallocAndFree{}, gallatin, bytes);
  simt::launch(stream, shape, MallocAndFree{}, bulkalloc, bytes);
  simt::launch(stream, shape, MallocAndFree{}, llvm_libc, bytes);
}

}  // namespace allocbench
