// This file has the kernel of graph_arrays. The kernel inserts a batch of arcs into arrays, or deletes such a batch.
// The arrays grow and shrink by powers of two.
//
// Paper: Winter et al., PPoPP'21, graph tests.
//
// A vertex of the batch belongs to one thread, or to `lanes` lanes of a warp: the first lane allocates and frees, and
// all lanes copy. A vertex is in a batch only once, so no other thread accesses its array. If the size changes, the new
// array is allocated and filled before the old one is freed. So the old array stays in place if malloc returns null.
// The set-up inserts all arcs into empty vertices with this kernel, so the allocator's code is compiled only once.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/graph/adjacency.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"

namespace allocbench::graph {

enum class Update : std::uint32_t { init, insert, remove };

// The array of each vertex, and the number of its targets.
struct Arrays {
  void** blocks;
  std::uint32_t* degrees;
};

// Entry i stands for vertex vertices[i], or vertex i if `vertices` is null. Its targets are targets[first[i]] to
// targets[first[i + 1] - 1].
struct Batch {
  const std::uint32_t* vertices;
  const std::uint32_t* first;
  const std::uint32_t* targets;
};

// Removes each of the targets once and moves the last target to its place. The search starts at the end, where the
// newest targets are. A target that is not found changes nothing. The check then finds a wrong degree.
SIMT_FN std::uint32_t remove_targets(std::uint32_t* array, std::uint32_t degree, const std::uint32_t* targets,
                                     std::uint32_t count) {
  for (std::uint32_t left = count; left != 0; --left) {
    std::uint32_t end = degree;
    while (end != 0 && array[end - 1] != targets[left - 1]) --end;
    if (end != 0) array[end - 1] = array[--degree];
  }
  return degree;
}

struct UpdateArraysKernel {
  // `lanes` is a power of two up to the warp size. The geometry has `lanes` callers per entry.
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, Batch batch, Arrays arrays, Update update,
                          std::uint32_t lanes, std::uint64_t* failures) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    const std::uint32_t entry = caller >> simt::count_trailing_zeros(lanes);
    const std::uint32_t rank = caller & (lanes - 1);
    const std::uint32_t vertex = batch.vertices == nullptr ? entry : batch.vertices[entry];
    const std::uint32_t* const targets = batch.targets + batch.first[entry];
    const std::uint32_t count = batch.first[entry + 1] - batch.first[entry];
    const bool first_array = update == Update::init;
    auto* const old_array = first_array ? nullptr : static_cast<std::uint32_t*>(arrays.blocks[vertex]);
    const std::uint32_t old_degree = first_array ? 0 : arrays.degrees[vertex];

    std::uint32_t kept = old_degree;
    if (update == Update::remove && rank == 0) kept = remove_targets(old_array, old_degree, targets, count);
    if (lanes != 1) {
      const auto warp = thread.warp();
      warp.sync();  // the others read what the first lane moved
      kept = warp.shfl_lane(kept, thread.lane() & ~(lanes - 1));
    }
    const std::uint32_t degree = update == Update::remove ? kept : kept + count;
    const bool moves = first_array || array_bytes(degree) != array_bytes(old_degree);

    auto&& session = attach(allocator, thread);
    std::uint64_t block = 0;
    if (moves && rank == 0) block = reinterpret_cast<std::uint64_t>(session.malloc(thread, array_bytes(degree)));
    if (lanes != 1) block = thread.warp().shfl_lane(block, thread.lane() & ~(lanes - 1));
    const bool lost = moves && block == 0;
    auto* const array = moves && !lost ? reinterpret_cast<std::uint32_t*>(block) : old_array;
    if (array != old_array) {
      for (std::uint32_t word = 4 * rank; word < kept; word += 4 * lanes) {
        simt::store_16_bytes(array + word, simt::load_16_bytes(old_array + word));
      }
    }
    // All lanes must have read the old array before it is freed. The last 16 bytes copied may reach beyond the kept
    // targets, so they must be copied before the new targets are written.
    if (lanes != 1) thread.warp().sync();
    if (update != Update::remove && !lost) {
      for (std::uint32_t arc = rank; arc < count; arc += lanes) array[kept + arc] = targets[arc];
    }
    if (rank == 0) {
      if (lost) thread.atomic(*failures).fetch_add(std::uint64_t{1}, simt::relaxed);
      if (array != old_array && !first_array) session.free(thread, old_array);
      arrays.blocks[vertex] = array;
      arrays.degrees[vertex] = lost && update != Update::remove ? old_degree : degree;
    }
    detach(session, thread);
  }
};

using ArraysKernels =
    KernelList<BareKernelOn<UpdateArraysKernel, Geometry, Batch, Arrays, Update, std::uint32_t, std::uint64_t*>>;

}  // namespace allocbench::graph
