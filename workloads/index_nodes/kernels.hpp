// This file has the kernel of index_nodes that calls the allocator. Warps insert and delete keys.
#pragma once

#include "allocators/support/common/lock.hpp"
#include "allocators/support/contract/session.hpp"
#include "workloads/index_nodes/hash_index.hpp"
#include "workloads/index_nodes/key_course.hpp"
#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench::index {

// The operations of a launch. No key occurs twice in a launch.
struct Operations {
  const KeyOperation* list;
  std::uint32_t count;
};

// The results of all launches of a sample, for the check and the numbers of mallocs and frees.
struct Tally {
  std::uint64_t mallocs;
  std::uint64_t frees;
  std::uint64_t failures;  // mallocs that returned null, so their key is not in the index
  std::uint64_t missed;    // deletions that did not find their key
};

// The first lane of a warp allocates, frees and writes. The other lanes help to search.
struct UpdateIndexKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, HashIndex index, Operations operations, Tally* tally) const {
    const auto warp = thread.warp();
    const std::uint32_t lane = thread.lane();
    const std::uint32_t begin = thread.rank_in_grid() - lane;
    if (begin >= operations.count) return;
    auto&& session = attach(allocator, thread);
    KeyOperation mine{};
    if (begin + lane < operations.count) mine = operations.list[begin + lane];
    const std::uint32_t left = operations.count - begin;
    const std::uint32_t count = left < simt::warp_size ? left : simt::warp_size;
    Tally done{};
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < count; ++i) {
      const KeyOperation operation{warp.shfl_lane(mine.key, i), warp.shfl_lane(mine.value, i)};
      const std::uint32_t place = index.bucket_of(operation.key);
      Bucket& bucket = index.buckets[place];
      if (lane == 0) {
        while (!try_lock(thread, bucket.lock)) thread.spin_hint();
      }
      warp.sync();  // the first lane's acquire covers all lanes
      const Found found = find(thread, bucket, operation.key);
      warp.sync();  // all lanes have read the chain
      if (lane == 0) {
        Node* const empty = change(thread, session, bucket, place, operation, found, done);
        unlock(thread, bucket.lock);
        if (empty != nullptr) session.free(thread, empty);
      }
    }
    if (lane == 0) add(thread, done, *tally);
    detach(session, thread);
  }

 private:
  // Changes the bucket. Returns the node that has become empty, or null.
  template <class Thread, class Session>
  static SIMT_FN Node* change(Thread& thread, Session& session, Bucket& bucket, std::uint32_t place,
                              const KeyOperation& operation, const Found& found, Tally& done) {
    Node* first = node_at(bucket.first);
    if (operation.value == 0) {
      if (found.node != nullptr) return remove(bucket, found, done);
      ++done.missed;
    } else if (found.node != nullptr) {
      found.node->values[found.slot] = operation.value;
    } else {
      if (first == nullptr || first->count == Node::capacity) first = prepend(thread, session, bucket, place, done);
      if (first != nullptr) {
        first->keys[first->count] = operation.key;
        first->values[first->count] = operation.value;
        ++first->count;
      }
    }
    return nullptr;
  }

  template <class Thread, class Session>
  static SIMT_FN Node* prepend(Thread& thread, Session& session, Bucket& bucket, std::uint32_t place, Tally& done) {
    auto* const node = static_cast<Node*>(session.malloc(thread, sizeof(Node)));
    if (node == nullptr) {
      ++done.failures;
      return nullptr;
    }
    ++done.mallocs;
    node->count = 0;
    node->bucket = place;
    node->next = bucket.first;
    bucket.first = reinterpret_cast<std::uint64_t>(node);
    return node;
  }

  static SIMT_FN Node* remove(Bucket& bucket, const Found& found, Tally& done) {
    Node* const first = node_at(bucket.first);
    --first->count;
    found.node->keys[found.slot] = first->keys[first->count];
    found.node->values[found.slot] = first->values[first->count];
    if (first->count != 0) return nullptr;
    bucket.first = first->next;
    ++done.frees;
    return first;
  }

  template <class Thread>
  static SIMT_FN void add(Thread& thread, const Tally& done, Tally& tally) {
    if (done.mallocs != 0) thread.atomic(tally.mallocs).fetch_add(done.mallocs, simt::relaxed);
    if (done.frees != 0) thread.atomic(tally.frees).fetch_add(done.frees, simt::relaxed);
    if (done.failures != 0) thread.atomic(tally.failures).fetch_add(done.failures, simt::relaxed);
    if (done.missed != 0) thread.atomic(tally.missed).fetch_add(done.missed, simt::relaxed);
  }
};

using IndexKernels = KernelList<BareKernelOn<UpdateIndexKernel, HashIndex, Operations, Tally*>>;

}  // namespace allocbench::index
