// This file has the kernels of array_list that call the allocator.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "containers/array_list.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"

namespace allocbench {

using ItemList = ArrayList<std::uint32_t>;  // an item of 4 n bytes is n elements

// The items of a launch. `slots` has a slot per iteration and caller. All words of an item hold the index of its slot.
struct Items {
  Geometry geometry;
  std::uint32_t iterations;
  std::uint32_t words;
  std::uint32_t** slots;

  SIMT_FN std::uint32_t end() const { return iterations * geometry.callers; }
  SIMT_FN void keep(std::uint32_t slot, std::uint32_t* item) const {
    slots[slot] = item;
    if (item == nullptr) return;
    for (std::uint32_t word = 0; word < words; ++word) item[word] = slot;
  }
};

struct MallocItemsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Items items) const {
    const std::uint32_t caller = items.geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t slot = caller; slot < items.end(); slot += items.geometry.callers) {
      items.keep(slot, static_cast<std::uint32_t*>(session.malloc(thread, std::size_t{4} * items.words)));
    }
    detach(session, thread);
  }
};

struct GrowItemsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Items items, ItemList list) const {
    const std::uint32_t caller = items.geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t slot = caller; slot < items.end(); slot += items.geometry.callers) {
      items.keep(slot, list.grow(thread, session, items.words));
    }
    detach(session, thread);
  }
};

// Threads beyond the last caller take part without a request, because all threads of a block must call grow_local().
struct GrowListKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Items items, ItemList list) const {
    const std::uint32_t caller = items.geometry.caller(thread);
    const std::uint32_t words = caller == Geometry::no_caller ? 0 : items.words;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t row = 0; row < items.end(); row += items.geometry.callers) {
      std::uint32_t* const item = list.grow_local(thread, session, words);
      if (words != 0) items.keep(row + caller, item);
    }
    detach(session, thread);
  }
};

struct FreeItemsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Items items) const {
    const std::uint32_t caller = items.geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t slot = caller; slot < items.end(); slot += items.geometry.callers) {
      session.free(thread, items.slots[slot]);
    }
    release_all(session, thread);
    detach(session, thread);
  }
};

struct ClearListKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, ItemList list) const {
    auto&& session = attach(allocator, thread);
    if (thread.rank_in_grid() == 0) list.clear(thread, session);
    detach(session, thread);
  }
};

// This kernel is separate, because an allocator that frees in bulk must keep the chunks until the thread that clears
// the list has visited them.
struct ReleaseKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator) const {
    auto&& session = attach(allocator, thread);
    release_all(session, thread);
    detach(session, thread);
  }
};

using ArrayListKernels =
    KernelList<BareKernelOn<MallocItemsKernel, Items>, BareKernelOn<GrowItemsKernel, Items, ItemList>,
               BareKernelOn<GrowListKernel, Items, ItemList>, BareKernelOn<FreeItemsKernel, Items>,
               BareKernelOn<ClearListKernel, ItemList>, BareKernelOn<ReleaseKernel>>;

}  // namespace allocbench
