// This file has the kernels of graph_build that call the allocator.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "workloads/graph/edge_list.hpp"
#include "workloads/graph/node_tree.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/requests/geometry.hpp"
#include "workloads/support/verification/poison.hpp"

namespace allocbench {

// The arrays in which the kernels record addresses: nodes by key, and edges by arc.
struct GraphSlots {
  void** nodes;
  void** edges;
  // The blocks of the warps' requests: up to two for each round of a warp, in the slots of its leader's arc. Null if
  // every node and every edge is a block.
  void** blocks;
  std::uint32_t keys;
  std::uint32_t arcs;
};

struct GraphBuildKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, const Arc* arcs, bool hold,
                          std::uint64_t* root, GraphSlots slots, std::uint64_t* frees) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    graph::Builder builder(session, root, hold);
    for (std::uint32_t arc = caller; arc < slots.arcs; arc += geometry.callers) {
      const auto [source_key, target_key] = arcs[arc];
      graph::Edge* edge = nullptr;
      graph::Node* const source = builder.ensure(thread, source_key, slots.nodes);
      if (source != nullptr) {
        graph::Node* const target = builder.ensure(thread, target_key, slots.nodes);
        if (target != nullptr) edge = builder.add_edge(thread, source, target);
      }
      slots.edges[arc] = edge;
      if (edge != nullptr) continue;
      for (arc += geometry.callers; arc < slots.arcs; arc += geometry.callers) slots.edges[arc] = nullptr;
      break;
    }
    builder.drop_spare(thread);
    if (builder.frees() != 0) thread.atomic(*frees).fetch_add(std::uint64_t{builder.frees()}, simt::relaxed);
    detach(session, thread);
  }
};

// This kernel builds the graph, too, but the leader of a warp requests the memory for an arc of each lane. It is
// separate, so that the published form needs no additional registers.
struct WarpGraphBuildKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, const Arc* arcs, std::uint64_t* root,
                          GraphSlots slots) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    graph::WarpBlocks memory(session);
    graph::Builder builder(memory, root, true);
    const auto warp = thread.warp();
    std::uint32_t arc = caller;
    for (bool served = true; warp.any(arc < slots.arcs); arc += geometry.callers) {
      const bool wants = arc < slots.arcs;
      void** const records = slots.blocks + 2 * std::size_t{wants ? arc : 0};
      const Arc ends = wants ? arcs[arc] : Arc{};
      graph::Node* source = nullptr;
      SIMT_ROLLED
      for (std::uint32_t end = 0; end < 2; ++end) {
        const bool first = end == 0;
        served = memory.refill(thread, wants, first, builder.has_spare(), records[end]);
        if (!served) break;
        if (!wants) continue;
        graph::Node* const node = builder.ensure(thread, first ? ends.source : ends.target, slots.nodes);
        if (first) {
          source = node;
        } else {
          slots.edges[arc] = builder.add_edge(thread, source, node);
        }
      }
      if (!served) break;
    }
    for (; arc < slots.arcs; arc += geometry.callers) slots.edges[arc] = nullptr;
    detach(session, thread);
  }
};

// Frees all blocks of the graph. The grid is that of the build, so every thread finds its session.
struct GraphFreeKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, GraphSlots slots) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    if (slots.blocks != nullptr) {
      for (std::uint32_t arc = caller; arc < slots.arcs; arc += geometry.callers) {
        for (void* const block : {slots.blocks[2 * std::size_t{arc}], slots.blocks[2 * std::size_t{arc} + 1]}) {
          if (is_block(block)) session.free(thread, block);
        }
      }
    } else {
      for (std::uint32_t key = caller; key < slots.keys; key += geometry.callers) {
        if (is_block(slots.nodes[key])) session.free(thread, slots.nodes[key]);
      }
      for (std::uint32_t arc = caller; arc < slots.arcs; arc += geometry.callers) {
        session.free(thread, slots.edges[arc]);
      }
    }
    release_all(session, thread);
    detach(session, thread);
  }
};

using GraphBuildKernels =
    KernelList<BareKernelOn<GraphBuildKernel, Geometry, const Arc*, bool, std::uint64_t*, GraphSlots, std::uint64_t*>,
               BareKernelOn<WarpGraphBuildKernel, Geometry, const Arc*, std::uint64_t*, GraphSlots>,
               BareKernelOn<GraphFreeKernel, Geometry, GraphSlots>>;

}  // namespace allocbench
