// This file has the kernel of prefix_sum's malloc phase.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/requests/request_sizes.hpp"

namespace allocbench {

// Writes the whole words of a block, as a program that needs the memory would.
SIMT_FN void write_words(void* block, std::size_t bytes, std::uint32_t value) {
  auto* const words = static_cast<std::uint32_t*>(block);
  for (std::size_t word = 0; word < bytes / 4; ++word) words[word] = value;
}

struct MallocAndFillKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, AnySize sizes, bool writes,
                          void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    void* const block = session.malloc(thread, sizes[caller]);
    blocks[caller] = block;
    if (writes && block != nullptr) write_words(block, sizes[caller], caller);
    detach(session, thread);
  }
};

using PrefixSumKernels = KernelList<KernelOn<MallocAndFillKernel, Geometry, AnySize, bool, void**>>;

}  // namespace allocbench
