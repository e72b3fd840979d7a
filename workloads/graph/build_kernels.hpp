// The kernels of graph_build that call the allocator.
#pragma once

#include "allocators/contract/session.hpp"
#include "workloads/common/geometry.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/contract/kernel_list.hpp"
#include "workloads/graph/edge_list.hpp"
#include "workloads/graph/node_tree.hpp"

namespace allocbench {

// Where the kernels leave what they made: addresses of nodes by key, of edges by arc.
struct GraphSlots {
  void** nodes;
  void** edges;
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

// Same grid as the build, so that every thread finds its session again.
struct GraphFreeKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, GraphSlots slots) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t key = caller; key < slots.keys; key += geometry.callers) {
      if (is_block(slots.nodes[key])) session.free(thread, slots.nodes[key]);
    }
    for (std::uint32_t arc = caller; arc < slots.arcs; arc += geometry.callers) {
      session.free(thread, slots.edges[arc]);
    }
    release_all(session, thread);
    detach(session, thread);
  }
};

using GraphBuildKernels =
    KernelList<BareKernelOn<GraphBuildKernel, Geometry, const Arc*, bool, std::uint64_t*, GraphSlots, std::uint64_t*>,
               BareKernelOn<GraphFreeKernel, Geometry, GraphSlots>>;

}  // namespace allocbench
