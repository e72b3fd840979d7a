// The kd-tree build under many schedules, against its reference.
#include "workloads/kd_tree.hpp"

#include <gtest/gtest.h>

#include "allocators/kma/kma.hpp"
#include "allocators/regeff/atomic_malloc.hpp"
#include "tests/workloads/workload_rig.hpp"

namespace allocbench {
namespace {

using test::WorkloadRig;

KdTree::Parameters small(const char* scene, std::uint32_t triangles) {
  KdTree::Parameters parameters;
  parameters.scene = scene;
  parameters.triangles = triangles;
  parameters.threads_per_block = 64;
  return parameters;
}

TEST(KdTree, EqualsItsReferenceOnEveryScene) {
  for (const char* scene : {"terrain", "spheres", "soup"}) {
    WorkloadRig<KdTree, AtomicMalloc> rig(small(scene, 500), 4 << 20);
    EXPECT_EQ(rig.sample(), "") << scene;
  }
}

}  // namespace
}  // namespace allocbench
