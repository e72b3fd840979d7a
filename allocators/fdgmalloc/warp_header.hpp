// The heap of one warp in FDGMalloc as published has a WarpHeader, a SuperBlock from which blocks are cut, and a list
// of all blocks.
//
// Widmer et al. 2013; layout of the authors' public code 1.0. Header, SuperBlock and list come from the device heap.
//
// malloc (published: alloc):
// 1. Each calling lane writes its request into its word of the header and adds up all 32 words. The sums give its
//    offset and the warp's total. Words of lanes that do not call keep their last requests, and these requests take
//    room again. The highest calling lane is the worker.
// 2. If the total is at least the payload of a SuperBlock, the worker takes one block of the device heap for all.
// 3. Otherwise each lane cuts its block at its offset behind the SuperBlock's fill level, and the worker moves the fill
//    level.
// 4. If there is no SuperBlock or some blocks do not fit, the worker fetches a new one. The lanes without a block
//    repeat step 3 in the new SuperBlock with the same offsets.
//
// release_all (published: end): Each calling lane leaves the heap, and the lane that leaves last frees all blocks, the
// list and the header. The next malloc makes a new header (published: start).
//
// Memory orders: A lock in the record serialises the groups of one warp. A barrier of the group separates the writes of
// one lane from the reads of others.
#pragma once

#include "allocators/support/common/lock.hpp"
#include "allocators/support/common/request.hpp"
#include "simt/simt.hpp"

namespace allocbench::fdgmalloc {

// HeaderRecord lies in the arena's metadata and holds the address of a warp's header.
struct HeaderRecord {
  std::uint32_t lock;
  std::uint32_t padding_;
  std::uint64_t header;  // address of the header; 0 if there is none
};

struct WarpHeader {
  static constexpr std::size_t bytes = 256;  // bytes that are allocated for a header

  std::uint32_t peak;           // word for the public code's statistics; not used here
  std::uint32_t participating;  // number of lanes in the call that made the header; not used here
  std::uint32_t active;         // mask of the lanes that have allocated and not ended yet
  std::uint64_t list;           // address of the newest node; 0 if there is none
  std::uint64_t superblock;     // address of the SuperBlock that is being filled; 0 if there is none
  std::uint32_t requests[simt::warp_size];
};
static_assert(sizeof(WarpHeader) == 160);

struct ListNode {
  static constexpr std::uint32_t most_blocks = 126;

  std::uint32_t used;
  std::uint64_t previous;
  std::uint64_t blocks[most_blocks];
};
static_assert(sizeof(ListNode) == 1024);

// HeaderSession is the state of a lane during a kernel. Any subset of the warp's lanes may call the members.
class HeaderSession {
 public:
  SIMT_FN HeaderSession(HeaderRecord* record, std::uint32_t superblock_bytes, RequestLimit limit)
      : record_(record), superblock_bytes_(superblock_bytes), limit_(limit) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (record_ == nullptr || limit_.refuses(bytes)) return nullptr;
    const std::uint32_t size = units_of(static_cast<std::uint32_t>(bytes), 4) << 4;
    const auto group = thread.converged();
    const std::uint32_t worker = 31 - simt::count_leading_zeros(group.mask());
    const bool works = thread.lane() == worker;
    std::uint64_t address = 0;
    if (works) address = lock_and_start(thread, group.mask());
    address = group.shfl_lane(address, worker);
    const bool all_joined = group.all(joined_);
    group.sync();  // the worker's acquire covers all lanes
    void* block = nullptr;
    if (address != 0) {
      WarpHeader& header = *reinterpret_cast<WarpHeader*>(address);
      if (works && !all_joined) thread.atomic(header.active).fetch_or(group.mask(), simt::relaxed);
      joined_ = true;
      block = cut(thread, group, worker, header, size);
    }
    if (works) unlock(thread, record_->lock);
    return block;
  }

  // Does nothing, because blocks cannot be freed one by one.
  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

  template <class Thread>
  SIMT_FN void release_all(Thread& thread) {
    if (record_ == nullptr) return;
    const auto group = thread.converged();
    const std::uint32_t worker = 31 - simt::count_leading_zeros(group.mask());
    if (thread.lane() == worker) lock(thread);
    group.sync();  // the worker's acquire covers all lanes
    const std::uint64_t address = thread.atomic(record_->header).load(simt::relaxed);
    const bool exists = group.shfl_lane(address, worker) != 0;
    if (exists) {
      WarpHeader& header = *reinterpret_cast<WarpHeader*>(address);
      const std::uint32_t me = 1u << thread.lane();
      if (thread.atomic(header.active).fetch_and(~me, simt::acq_rel) == me) free_all(thread, address);
    }
    joined_ = false;
    group.sync();  // the last lane's actions are ordered before the worker's release
    if (thread.lane() == worker) unlock(thread, record_->lock);
  }

 private:
  // Does the worker's part of a request: takes the lock and finds or makes the header. Returns the address of the
  // header, or 0 if the device heap has no room.
  template <class Thread>
  SIMT_FN std::uint64_t lock_and_start(Thread& thread, simt::LaneMask lanes) {
    lock(thread);
    const auto record = thread.atomic(record_->header);
    std::uint64_t address = record.load(simt::relaxed);
    if (address != 0) return address;
    address = reinterpret_cast<std::uint64_t>(thread.device_heap().malloc(WarpHeader::bytes));
    if (address == 0) return 0;
    WarpHeader& header = *reinterpret_cast<WarpHeader*>(address);
    thread.atomic(header.peak).store(0u, simt::relaxed);
    thread.atomic(header.participating).store(simt::popcount(lanes), simt::relaxed);
    thread.atomic(header.active).store(lanes, simt::relaxed);
    thread.atomic(header.list).store(0, simt::relaxed);
    thread.atomic(header.superblock).store(0, simt::relaxed);
    for (std::uint32_t& request : header.requests) thread.atomic(request).store(0u, simt::relaxed);
    record.store(address, simt::relaxed);
    return address;
  }

  // Cuts a block for each lane of the group. All lanes of the group call cut(), and the worker is one of them.
  template <class Thread, class Group>
  SIMT_FN void* cut(Thread& thread, const Group& group, std::uint32_t worker, WarpHeader& header, std::uint32_t size) {
    const bool works = thread.lane() == worker;
    thread.atomic(header.requests[thread.lane()]).store(size, simt::relaxed);
    group.sync();  // requests are written before they are read
    std::uint64_t offset = 0;
    std::uint64_t total = 0;
    for (std::uint32_t lane = 0; lane < simt::warp_size; ++lane) {
      if (lane == thread.lane()) offset = total;
      total += thread.atomic(header.requests[lane]).load(simt::relaxed);
    }
    if (total >= payload()) {
      std::uint64_t block = 0;
      if (works && !limit_.refuses(total)) block = obtain(thread, header, total);
      block = group.shfl_lane(block, worker);
      group.sync();  // requests are read, and the worker's record is ordered before its release
      return block == 0 ? nullptr : reinterpret_cast<std::byte*>(block) + offset;
    }
    return cut_from_superblock(thread, group, worker, header, static_cast<std::uint32_t>(offset), size);
  }

  // Cuts blocks from SuperBlocks. The loop runs at most twice, because the total fits a new SuperBlock.
  template <class Thread, class Group>
  SIMT_FN void* cut_from_superblock(Thread& thread, Group group, std::uint32_t worker, WarpHeader& header,
                                    std::uint32_t offset, std::uint32_t size) {
    const bool works = thread.lane() == worker;
    std::uint64_t superblock = thread.atomic(header.superblock).load(simt::relaxed);
    for (;;) {
      if (superblock != 0) {
        const auto fill = thread.atomic(*fill_level(superblock));
        const std::uint32_t begin = fill.load(simt::relaxed) + offset;
        const bool fits = begin + size <= payload();
        const auto alike = group.partition(fits);
        group.sync();  // all have read the fill level
        if (works && fits) fill.store(begin + size, simt::relaxed);
        if (fits) return reinterpret_cast<std::byte*>(superblock) + begin;
        group = alike;
      } else {
        group.sync();  // all have read the pointer
      }
      if (works) {
        superblock = obtain(thread, header, superblock_bytes_);
        if (superblock != 0) thread.atomic(*fill_level(superblock)).store(0u, simt::relaxed);
        thread.atomic(header.superblock).store(superblock, simt::relaxed);
      }
      superblock = group.shfl_lane(superblock, worker);
      group.sync();  // the new fill level is written before it is read
      if (superblock == 0) return nullptr;
    }
  }

  // Returns a block of the device heap and records it in the list. Returns 0 if the heap has no room.
  template <class Thread>
  static SIMT_FN std::uint64_t obtain(Thread& thread, WarpHeader& header, std::uint64_t bytes) {
    void* const block = thread.device_heap().malloc(bytes);
    if (block == nullptr) return 0;
    const auto address = reinterpret_cast<std::uint64_t>(block);
    if (append(thread, header, address)) return address;
    thread.device_heap().free(block);
    return 0;
  }

  template <class Thread>
  static SIMT_FN bool append(Thread& thread, WarpHeader& header, std::uint64_t block) {
    const auto list = thread.atomic(header.list);
    auto* node = reinterpret_cast<ListNode*>(list.load(simt::relaxed));
    std::uint32_t used = ListNode::most_blocks;
    if (node != nullptr) used = thread.atomic(node->used).load(simt::relaxed);
    if (used == ListNode::most_blocks) {
      auto* const fresh = static_cast<ListNode*>(thread.device_heap().malloc(sizeof(ListNode)));
      if (fresh == nullptr) return false;
      thread.atomic(fresh->previous).store(reinterpret_cast<std::uint64_t>(node), simt::relaxed);
      list.store(reinterpret_cast<std::uint64_t>(fresh), simt::relaxed);
      node = fresh;
      used = 0;
    }
    thread.atomic(node->blocks[used]).store(block, simt::relaxed);
    thread.atomic(node->used).store(used + 1, simt::relaxed);
    return true;
  }

  template <class Thread>
  SIMT_FN void free_all(Thread& thread, std::uint64_t address) {
    WarpHeader& header = *reinterpret_cast<WarpHeader*>(address);
    auto* node = reinterpret_cast<ListNode*>(thread.atomic(header.list).load(simt::relaxed));
    while (node != nullptr) {
      const std::uint32_t used = thread.atomic(node->used).load(simt::relaxed);
      for (std::uint32_t i = 0; i < used; ++i) {
        thread.device_heap().free(reinterpret_cast<void*>(thread.atomic(node->blocks[i]).load(simt::relaxed)));
      }
      ListNode* const freed = node;
      node = reinterpret_cast<ListNode*>(thread.atomic(node->previous).load(simt::relaxed));
      thread.device_heap().free(freed);
    }
    thread.device_heap().free(&header);
    thread.atomic(record_->header).store(0, simt::relaxed);
  }

  template <class Thread>
  SIMT_FN void lock(Thread& thread) const {
    while (!try_lock(thread, record_->lock)) thread.spin_hint();
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread, std::uint32_t& word) const {
    allocbench::unlock(thread, word);
  }

  SIMT_FN std::uint32_t payload() const {
    return superblock_bytes_ - static_cast<std::uint32_t>(sizeof(std::uint32_t));
  }
  SIMT_FN std::uint32_t* fill_level(std::uint64_t superblock) const {
    return reinterpret_cast<std::uint32_t*>(superblock + payload());
  }

  HeaderRecord* record_;
  std::uint32_t superblock_bytes_;
  bool joined_ = false;
  RequestLimit limit_;
};

}  // namespace allocbench::fdgmalloc
