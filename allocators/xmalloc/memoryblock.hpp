// MemoryblockHeap is the heap under the buffers of the reworked XMalloc. DeviceHeapMemory is the device heap, which
// takes the place of such a heap in the later forms (xmalloc_device_heap, published and reworked).
//
// Both serve memory with four bytes in front of it for the caller's type tag (tag.hpp).
//
// MemoryblockHeap: The paper describes no concurrent protocol. We use one lock for chain and lists (memory_chain.hpp),
// and one lane takes it for all lanes of the warp that come together. The lanes divide one free block if one is large
// enough for all and no lane needs more than a 32nd of the pool. Otherwise they take blocks one after the other.
// Neighbouring blocks that consecutive lanes free together are first joined, and the joined blocks are freed one after
// the other. Free blocks are in lists by the power of two of their size.
#pragma once

#include "allocators/support/common/device_heap_share.hpp"
#include "allocators/support/common/lock.hpp"
#include "allocators/xmalloc/memory_chain.hpp"

namespace allocbench::xmalloc {

class MemoryblockHeap : public MemoryChain<32> {
 public:
  struct Control {
    TicketLock lock;
    alignas(128) Lists lists;
  };

  MemoryblockHeap() = default;
  MemoryblockHeap(std::byte* base, std::uint32_t units, Control* control)
      : MemoryChain(base, units, &control->lists), control_(control) {}

  template <class Thread>
  SIMT_FN void initialise(Thread& thread) const {
    store(thread, control_->lock.next_ticket, 0);
    store(thread, control_->lock.serving, 0);
    MemoryChain::initialise(thread);
  }

  template <class Thread>
  SIMT_FN std::byte* malloc(Thread& thread, std::size_t bytes) const {
    if (refuses(bytes)) return nullptr;
    const std::uint32_t need = need_of(bytes);
    const auto group = thread.converged();
    control_->lock.lock(thread, group);
    std::uint32_t block = take_together(thread, group, need);
    if (block == none) {
      in_turn(thread.lane(), group, true, [&] {
        block = take(thread, need);
        if (block != none) store(thread, header(block).used, 1);
      });
    }
    control_->lock.unlock(thread, group);
    return block == none ? nullptr : memory_of(block);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, std::byte* memory) const {
    const auto group = thread.converged();
    const std::uint32_t block = block_of(memory);
    control_->lock.lock(thread, group);
    const bool first = join_rows(thread, group, block);
    in_turn(thread.lane(), group, first, [&] { merge(thread, block); });
    control_->lock.unlock(thread, group);
  }

 private:
  // Runs `work` for the lanes with `works`, one after the other.
  template <class Group, class Work>
  static SIMT_FN void in_turn(std::uint32_t lane, const Group& group, bool works, Work work) {
    for (simt::LaneMask left = group.ballot(works); left != 0; left &= left - 1) {
      if (lane == simt::count_trailing_zeros(left)) work();
      group.sync();  // the next lane reads the writes of the previous one
    }
  }

  // Joins used blocks that lie one behind the other, if the ranks of their lanes are consecutive. take_together()
  // places blocks in this way. Returns true to the first lane of each row; this lane frees the joined block. A lane
  // without such a neighbour is a row of its own.
  template <class Thread, class Group>
  SIMT_FN bool join_rows(Thread& thread, const Group& group, std::uint32_t block) const {
    const std::uint32_t next = load(thread, header(block).next);
    const std::uint32_t rank = group.thread_rank();
    const std::uint32_t behind_previous = group.shfl(next, rank == 0 ? 0 : rank - 1);
    const bool first = rank == 0 || behind_previous != block;
    const simt::LaneMask above = ~1u << thread.lane();
    const simt::LaneMask next_row = group.ballot(first) & above;
    const simt::LaneMask row = group.mask() & above & (next_row == 0 ? ~0u : (next_row & -next_row) - 1);
    const std::uint32_t last = row == 0 ? thread.lane() : 31 - simt::count_leading_zeros(row);
    const std::uint32_t end = group.shfl_lane(next, last);
    if (first && row != 0) {
      store(thread, header(block).next, end);
      store(thread, header(end).previous, block);
    }
    group.sync();  // merging lanes read the writes of all lanes
    return first;
  }

  // Returns neighbouring blocks for all lanes out of one free block. Returns `none` to all lanes if no free block is
  // large enough, if a request needs more than a 32nd of the pool, or if the group is a single lane.
  template <class Thread, class Group>
  SIMT_FN std::uint32_t take_together(Thread& thread, const Group& group, std::uint32_t need) const {
    if (group.num_threads() == 1 || !group.all(need <= end() / simt::warp_size)) return none;
    const std::uint32_t offset = group.exclusive_sum(need);
    const std::uint32_t total = group.reduce_add(need);
    std::uint32_t first = none;
    std::uint32_t behind = none;
    if (group.leader()) first = take(thread, total);
    if (first != none) behind = load(thread, header(first).next);
    first = group.broadcast(first);
    behind = group.broadcast(behind);
    if (first == none) return none;
    group.sync();  // the leader's writes to the headers are ordered before the lanes' accesses
    const std::uint32_t block = first + offset;
    const std::uint32_t next = offset + need == total ? behind : block + need;
    store(thread, header(block).next, next);
    store(thread, header(block).used, 1);
    store(thread, header(next).previous, block);
    return block;
  }

  Control* control_ = nullptr;
};

// DeviceHeapMemory serves blocks from the back end's device heap, each with a unit in front for the tag.
class DeviceHeapMemory {
 public:
  // Bytes in front of a block: the unit for the tag, and the header of the CPU executor's heap. The header of CUDA's
  // heap is unknown.
  static constexpr std::uint32_t header_bytes = 2 * unit_bytes;

  static std::size_t largest_request(std::size_t heap_bytes) {
    const std::size_t largest = largest_in_device_heap(heap_bytes) / unit_bytes * unit_bytes;
    return largest < unit_bytes ? 0 : largest - unit_bytes;
  }

  DeviceHeapMemory() = default;
  explicit DeviceHeapMemory(std::size_t heap_bytes) : limit_{heap_bytes} {}

  template <class Thread>
  SIMT_FN std::byte* malloc(Thread& thread, std::size_t bytes) const {
    if (limit_.refuses(bytes)) return nullptr;
    auto* const memory = static_cast<std::byte*>(thread.device_heap().malloc(bytes + unit_bytes));
    return memory == nullptr ? nullptr : memory + unit_bytes;
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, std::byte* memory) const {
    thread.device_heap().free(memory - unit_bytes);
  }

 private:
  RequestLimit limit_;
};

}  // namespace allocbench::xmalloc
