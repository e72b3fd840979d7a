// BuildMemory is the device memory of a kd-tree build apart from the pool. It also reads the results from this memory.
#pragma once

#include <memory>

#include "simt/simt.hpp"
#include "workloads/kd_tree/build_setup.hpp"
#include "workloads/kd_tree/prepared_scene.hpp"

namespace allocbench::kd_tree {

struct BuildOptions {
  std::uint32_t padding_bytes = 16;
  std::uint32_t solo_references = 512;
  std::uint32_t part_references = 256;
  std::uint32_t queued_tasks = 1 << 16;  // queue length above which warps keep their tasks
};

class BuildMemory {
 public:
  BuildMemory(simt::Stream& stream, std::shared_ptr<const PreparedScene> scene, const BuildOptions& options,
              std::uint32_t warps);

  // Resets the memory before a build.
  void prepare();
  const BuildSetup& setup() const { return setup_; }

  // totals(), failed_request() and problem() wait for the build to finish.
  BuildTotals totals() const;
  // Returns the bytes of one request that returned null, without padding, or 0 if there is none.
  std::uint64_t failed_request() const;
  // Compares the tree with the reference by digests that the device computes. Also compares the numbers of tasks,
  // requests and frees. If the digests differ, the nodes are compared one by one for the message. Returns an empty text
  // if all are right.
  std::string problem() const;

 private:
  void point_to_buffers();
  TreeDigest digest() const;

  simt::Stream& stream_;
  std::shared_ptr<const PreparedScene> scene_;
  BuildSetup setup_{};
  simt::Buffer<TriangleBox> boxes_;
  simt::Buffer<std::uint32_t> root_list_;
  simt::Buffer<QueueSlot> slots_;
  simt::Buffer<SharedWord> words_;
  simt::Buffer<SharedNode> shared_nodes_;
  simt::Buffer<std::uint32_t> shared_node_bits_;
  simt::Buffer<Task> stacks_;
  simt::Buffer<Node> nodes_;
  simt::Buffer<std::uint32_t> parents_;
  simt::Buffer<std::uint32_t> leaf_references_;
  simt::Buffer<std::uint64_t> used_;
  simt::Buffer<BuildTotals> totals_;
  simt::Buffer<TreeDigest> digest_;
};

}  // namespace allocbench::kd_tree
