// The heap of one warp in FDGMalloc, reworked, has a SuperBlock from which blocks are cut, and the chain of all memory
// to free in bulk.
//
// Protocol: A lock guards the record of a warp, because diverged subsets of its lanes may call at the same time. (The
// published code has no lock: lanes read other lanes' requests without a barrier, and diverged lanes change the fill
// level at the same time.) A lane holds the lock only while its own group works, so every wait ends. Without
// divergence, lanes wait only if each takes a block of its own. `owners` has a bit for each lane that has allocated
// since its last release_all(). The lane that clears the last bit frees the chain. (The published code counts "highest
// active lane + 1" threads, and never frees the memory if the lanes are not the first ones of the warp.)
#pragma once

#include "allocators/support/common/lock.hpp"
#include "allocators/support/common/request.hpp"
#include "simt/simt.hpp"

namespace allocbench::fdgmalloc {

inline constexpr std::uint32_t unit_log2 = 4;
inline constexpr std::uint32_t unit_bytes = 1u << unit_log2;

struct alignas(32) WarpRecord {
  std::uint32_t lock;
  std::uint32_t owners;      // mask of the lanes that may have live blocks
  std::uint64_t superblock;  // address of the SuperBlock that is being filled; 0 if there is none
  std::uint64_t chain;       // address of the newest block from the backing allocator; 0 if there is none
  std::uint32_t fill;        // units of the SuperBlock in use, with its link
};

// ChainLink lies in front of every block from the backing allocator.
struct alignas(16) ChainLink {
  std::uint64_t next;
};

// Session is the state of a lane during a kernel. Any subset of the warp's lanes may call the members. `Backing` is an
// allocator handle.
template <class Backing>
class Session {
 public:
  SIMT_FN Session(const Backing& backing, WarpRecord* record, std::uint32_t superblock_units, RequestLimit limit)
      : backing_(backing), record_(record), superblock_units_(superblock_units), limit_(limit) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (limit_.refuses(bytes) || record_ == nullptr) return nullptr;
    if (bytes > most_joint_bytes) return own_block(thread, bytes);
    const std::uint32_t units = units_of(static_cast<std::uint32_t>(bytes), unit_log2);
    const auto group = thread.converged();
    const std::uint32_t offset = group.exclusive_sum(units);
    const std::uint32_t total = group.reduce_add(units);
    if (total < superblock_units_) return from_superblock(thread, group, offset, units, total);
    if (limit_.refuses(std::uint64_t{total} * unit_bytes)) return own_block(thread, bytes);
    std::uint64_t block = 0;
    if (group.leader()) {
      lock(thread);
      block = obtain(thread, std::uint64_t{total} * unit_bytes, group.mask());
      unlock(thread);
    }
    block = group.broadcast(block);
    group.sync();
    return block == 0 ? nullptr : address(block, 1 + offset);
  }

  // Does nothing, because blocks cannot be freed one by one.
  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

  // Declares that the calling lanes have no live block left. When all lanes of the warp that allocated have done so,
  // all memory of the warp is freed.
  template <class Thread>
  SIMT_FN void release_all(Thread& thread) {
    if (record_ == nullptr) return;
    const auto group = thread.converged();
    group.sync();  // the last uses of all lanes are ordered before the leader's release
    std::uint64_t block = 0;
    if (group.leader()) {
      lock(thread);
      const auto owners = thread.atomic(record_->owners);
      const std::uint32_t left = owners.load(simt::relaxed) & ~group.mask();
      owners.store(left, simt::relaxed);
      if (left == 0) {
        block = thread.atomic(record_->chain).load(simt::relaxed);
        thread.atomic(record_->chain).store(0, simt::relaxed);
        thread.atomic(record_->superblock).store(0, simt::relaxed);
      }
      unlock(thread);
    }
    group.sync();  // no lane allocates again before the bits are cleared, or its new bit would be lost
    while (block != 0) {
      auto* const link = reinterpret_cast<ChainLink*>(block);
      block = thread.atomic(link->next).load(simt::relaxed);
      backing_.free(thread, link);
    }
  }

 private:
  // With this limit of a lane's request, the sum of a warp stays below 2^32 bytes.
  static constexpr std::uint32_t most_joint_bytes = 1u << 26;

  static SIMT_FN void* address(std::uint64_t block, std::uint32_t unit) {
    return reinterpret_cast<std::byte*>(block) + std::size_t{unit} * unit_bytes;
  }

  template <class Thread>
  SIMT_FN void lock(Thread& thread) const {
    while (!try_lock(thread, record_->lock)) thread.spin_hint();
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread) const {
    allocbench::unlock(thread, record_->lock);
  }

  template <class Thread>
  SIMT_FN std::uint64_t obtain(Thread& thread, std::uint64_t bytes, simt::LaneMask lanes) {
    return obtain_from(thread, backing_, record_, bytes, lanes);
  }
  // Takes a block of the backing allocator and adds it to the chain. Returns 0 if there is none. The caller holds the
  // lock. Inlining would put four copies of the backing allocator into each kernel that calls malloc().
  template <class Thread>
  SIMT_NOINLINE_FN static std::uint64_t obtain_from(Thread& thread, Backing backing, WarpRecord* record,
                                                    std::uint64_t bytes, simt::LaneMask lanes) {
    const auto block = reinterpret_cast<std::uint64_t>(backing.malloc(thread, bytes + sizeof(ChainLink)));
    if (block == 0) return 0;
    const auto chain = thread.atomic(record->chain);
    thread.atomic(reinterpret_cast<ChainLink*>(block)->next).store(chain.load(simt::relaxed), simt::relaxed);
    chain.store(block, simt::relaxed);
    enrol(thread, record, lanes);
    return block;
  }

  template <class Thread>
  static SIMT_FN void enrol(Thread& thread, WarpRecord* record, simt::LaneMask lanes) {
    const auto owners = thread.atomic(record->owners);
    owners.store(owners.load(simt::relaxed) | lanes, simt::relaxed);
  }

  template <class Thread>
  SIMT_FN void* own_block(Thread& thread, std::size_t bytes) {
    lock(thread);
    const std::uint64_t block = obtain(thread, bytes, 1u << thread.lane());
    unlock(thread);
    return block == 0 ? nullptr : address(block, 1);
  }

  // Serves a group. Lanes whose blocks fit the rest of the SuperBlock use it, and the lanes after them move to a new
  // SuperBlock.
  template <class Thread, class Group>
  SIMT_FN void* from_superblock(Thread& thread, const Group& group, std::uint32_t offset, std::uint32_t units,
                                std::uint32_t total) {
    std::uint64_t superblock = 0;
    std::uint32_t fill = superblock_units_;  // treated as full until the leader reads it
    if (group.leader()) {
      lock(thread);
      superblock = thread.atomic(record_->superblock).load(simt::relaxed);
      if (superblock != 0) fill = thread.atomic(record_->fill).load(simt::relaxed);
    }
    superblock = group.broadcast(superblock);
    fill = group.broadcast(fill);
    const bool fits = fill + offset + units <= superblock_units_;
    const std::uint32_t used = group.reduce_max(fits ? offset + units : 0);
    std::uint64_t fresh = 0;
    if (group.leader()) {
      const std::uint64_t payload = std::uint64_t{superblock_units_ - 1} * unit_bytes;
      if (used < total) fresh = obtain(thread, payload, group.mask());
      if (fresh != 0) thread.atomic(record_->superblock).store(fresh, simt::relaxed);
      if (used != 0) enrol(thread, record_, group.mask());
      thread.atomic(record_->fill).store(fresh != 0 ? 1 + total - used : fill + used, simt::relaxed);
      unlock(thread);
    }
    fresh = group.broadcast(fresh);
    group.sync();  // the leader's acquire covers all lanes
    if (fits) return address(superblock, fill + offset);
    return fresh == 0 ? nullptr : address(fresh, 1 + offset - used);
  }

  Backing backing_;
  WarpRecord* record_;
  std::uint32_t superblock_units_;
  RequestLimit limit_;
};

}  // namespace allocbench::fdgmalloc
