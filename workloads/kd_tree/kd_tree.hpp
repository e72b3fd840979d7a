// In kd_tree, persistent warps build a kd-tree. The lists of triangles below the root are blocks of the allocator.
//
// Paper: Vinkler & Havran 2015, sec. 5 [DS], table 2.
//
// A warp splits a node at the best of 32 planes by the surface area heuristic (kd_tree/split_rules.hpp), requests the
// lists of the children and frees the node's list. If one child is empty, the other one takes the node's list, and
// nothing is requested. If both children are split further, the warp continues with one of them and puts the other one
// into the queue, unless the queue already has `queued_tasks` tasks. A warp of another multiprocessor often frees that
// child's list. A list has at least one index of 4 B, and at most the indices of nearly all triangles. Warps take nodes
// from a queue (kd_tree/work_queue.hpp); many warps share a large node (kd_tree/shared_nodes.hpp). By default the grid
// has as many blocks as can be resident with this allocator's registers.
//
// The tree, and the number and sizes of the requests, depend only on the scene and on the parameters of the tree. Each
// sample's tree is compared, by digests, with a tree that the host builds.
//
// Differs from the authors' program: A queue of tickets replaces the scan of the task pool, and a warp with a small
// node executes all phases of the node itself.
#pragma once

#include "workloads/kd_tree/prepared_scene.hpp"
#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct KdTree {
  struct Parameters {
    std::string scene = "lost_empire";
    std::uint32_t subdivisions = 0;
    std::uint32_t triangles = 100'000;
    std::uint32_t depth_limit = 0;
    std::uint32_t failed_splits = 0;
    std::uint64_t padding_bytes = 16;
    std::uint32_t threads_per_block = 256;
    std::uint32_t blocks = 0;
    std::uint32_t solo_references = 512;
    std::uint32_t part_references = 256;
    std::uint32_t queued_tasks = 1 << 16;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"scene", &P::scene, "",
                "mesh data/scenes/<scene>.ply.gz (or .ply, .obj.gz, .obj), or made here: terrain, spheres, soup",
                "Vinkler & Havran 2015, table 2; data/README.md"},
          Field{"subdivisions", &P::subdivisions, "", "how often each triangle is cut into four",
                "assumed: replaces large scenes that are not available"}
              .between(0, 6),
          Field{"triangles", &P::triangles, "triangles", "size of a scene that is made here", "assumed"}.between(
              16, 1 << 24),
          Field{"depth_limit", &P::depth_limit, "levels", "depth of the tree; 0: 1.2 log2(triangles) + 2",
                "the framework of Vinkler et al., CGF 2013"}
              .between(0, 60),
          Field{"failed_splits", &P::failed_splits, "splits",
                "splits with little gain that a path may have; 0: 0.26 depth_limit + 1",
                "the framework of Vinkler et al., CGF 2013"}
              .between(0, 60),
          Field{"padding_bytes", &P::padding_bytes, "B", "requests are rounded up to a multiple of it",
                "Vinkler & Havran 2015, sec. 5"}
              .between(1, 4096)
              .powers_of_two(),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block, whole warps",
                "Vinkler & Havran 2015, table 1"}
              .between(simt::warp_size, most_threads_per_block),
          Field{"blocks", &P::blocks, "blocks",
                "blocks of the grid; 0, or more than can be resident: as many as can be",
                "assumed: an equal number for all allocators removes the effect of their registers on occupancy"}
              .between(0, most_blocks),
          Field{"solo_references", &P::solo_references, "references", "a larger node is shared among warps", "assumed"}
              .between(1, 1 << 24),
          Field{"part_references", &P::part_references, "references",
                "references that a warp takes from a shared node at a time", "assumed"}
              .between(32, 1 << 20),
          Field{"queued_tasks", &P::queued_tasks, "tasks", "length of the queue above which warps keep their nodes",
                "assumed"}
              .between(0, 1 << 20)};
    }

    kd_tree::SceneChoice choice(std::uint64_t seed) const {
      return {scene, triangles, subdivisions, depth_limit, failed_splits, seed};
    }
  };

  static constexpr WorkloadTraits traits{.name = "kd_tree",
                                         .display_name = "kd-tree build",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [DS]",
                                         .summary = "persistent warps build a kd-tree of nodes with allocated lists",
                                         .phases = "build",
                                         .untimed_kernels = "one_malloc_one_free",
                                         .writes_blocks = true,
                                         .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
