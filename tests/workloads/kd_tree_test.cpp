// These tests compare the kd-tree build under many schedules with its reference. Warps share nodes or keep their own
// nodes, allocators have faults, or memory runs out.
#include "workloads/kd_tree/kd_tree.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/circular_malloc/cf_malloc_reworked.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/alloc_dealloc/kernels.hpp"
#include "workloads/kd_tree/kernels.hpp"

namespace allocbench {
namespace {

using test::Fault;

template <class A>
using Rig = test::WorkloadRig<KdTree, A, KdTreeKernels, AllocDeallocKernels>;

KdTree::Parameters small(const std::string& scene, std::uint32_t triangles) {
  KdTree::Parameters parameters;
  parameters.scene = scene;
  parameters.triangles = triangles;
  parameters.threads_per_block = 64;
  parameters.blocks = 3;
  return parameters;
}

// Warps share every node with more than 40 references.
KdTree::Parameters shared(const std::string& scene, std::uint32_t triangles) {
  KdTree::Parameters parameters = small(scene, triangles);
  parameters.solo_references = 40;
  parameters.part_references = 32;
  return parameters;
}

const kd_tree::RequestStatistics& expected(const KdTree::Parameters& parameters, std::uint64_t seed) {
  return kd_tree::prepared_scene(parameters.choice(seed))->reference.requests;
}

TEST(KdTree, EqualsItsReferenceOnEveryScene) {
  for (const char* scene : {"terrain", "spheres", "soup"}) {
    const KdTree::Parameters parameters = small(scene, 300);
    Rig<AtomicMalloc> rig(parameters, 4 << 20);
    ASSERT_EQ(rig.sample(), "") << scene;
    const kd_tree::RequestStatistics& requests = expected(parameters, 7);
    EXPECT_EQ(rig.counter("mallocs"), requests.mallocs);
    EXPECT_EQ(rig.counter("frees"), requests.mallocs);
    EXPECT_EQ(rig.counter("requested_bytes"), requests.bytes);
    EXPECT_EQ(rig.counter("triangles"), 300u);
    EXPECT_EQ(rig.counter("resident_warps"), 6u);
    EXPECT_EQ(rig.run->kernels().size(), 2u) << "the build, and one malloc with one free to compare registers with";
  }
}

TEST(KdTree, KnowsTheSizesOfItsRequests) {
  Rig<AtomicMalloc> rig(small("terrain", 300), 4 << 20);
  ASSERT_EQ(rig.sample(), "");
  const std::vector<Histogram> histograms = rig.run->histograms();
  ASSERT_EQ(histograms.size(), 1u);
  EXPECT_EQ(histograms[0].name, "request_bytes");
  std::uint64_t mallocs = 0;
  std::uint64_t least_bytes = 0;
  for (const auto& [first, count] : histograms[0].bins) {
    EXPECT_TRUE(std::has_single_bit(first));
    mallocs += count;
    least_bytes += first * count;
  }
  EXPECT_EQ(mallocs, rig.counter("mallocs"));
  EXPECT_LE(least_bytes, rig.counter("requested_bytes"));
  EXPECT_GT(2 * least_bytes, rig.counter("requested_bytes"));
}

TEST(KdTree, SharesNodesAmongWarpsUnderManySchedules) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(12); ++seed) {
    const KdTree::Parameters parameters = shared(seed % 2 == 0 ? "soup" : "spheres", 150);
    Rig<CFMallocReworked> rig(parameters, 1 << 20, {}, seed);
    ASSERT_EQ(rig.sample(), "") << "seed " << seed;
    ASSERT_EQ(rig.sample(), "") << "seed " << seed << ": again on the same heap";
    EXPECT_EQ(rig.counter("mallocs"), expected(parameters, seed).mallocs);
  }
}

TEST(KdTree, KeepsNodesWhereTheQueueIsFull) {
  for (const std::uint32_t queued : {0u, 2u}) {
    KdTree::Parameters parameters = shared("terrain", 200);
    parameters.queued_tasks = queued;
    Rig<CFMallocReworked> rig(parameters, 1 << 20);
    EXPECT_EQ(rig.sample(), "") << queued;
  }
}

TEST(KdTree, IsTheSameForOneWarpAndMany) {
  KdTree::Parameters parameters = small("soup", 200);
  parameters.blocks = 1;
  parameters.threads_per_block = 32;
  Rig<CFMallocReworked> rig(parameters, 1 << 20);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.counter("resident_warps"), 1u);
}

TEST(KdTree, PadsRequestsButCountsThemUnpadded) {
  KdTree::Parameters parameters = small("spheres", 100);
  parameters.padding_bytes = 1;
  Rig<AtomicMalloc> rig(parameters, 1 << 20);
  ASSERT_EQ(rig.sample(), "");
  const std::uint64_t unpadded = rig.counter("requested_bytes");
  parameters.padding_bytes = 256;
  Rig<AtomicMalloc> padded(parameters, 1 << 20);
  ASSERT_EQ(padded.sample(), "");
  EXPECT_EQ(padded.counter("requested_bytes"), unpadded);
}

TEST(KdTree, EndsWhereMemoryRunsOut) {
  for (const std::size_t pool : {std::size_t{1024}, std::size_t{4096}, std::size_t{8192}}) {
    for (const KdTree::Parameters& parameters : {small("soup", 200), shared("soup", 200)}) {
      Rig<AtomicMalloc> rig(parameters, pool);
      const std::string text = rig.sample();
      EXPECT_NE(text.find("returned null after"), std::string::npos) << pool << " B: " << text;
      EXPECT_EQ(rig.counter("frees"), rig.counter("mallocs")) << "every list is given back all the same";
    }
  }
}

TEST(KdTree, ServesAFullHeapAgain) {
  Rig<CFMallocReworked> rig(shared("soup", 250), 4096);
  for (int round = 0; round < 3; ++round) {
    const std::string text = rig.sample();
    EXPECT_NE(text.find("returned null after"), std::string::npos) << text;
    EXPECT_EQ(rig.counter("frees"), rig.counter("mallocs"));
    EXPECT_GT(rig.counter("mallocs"), 2u) << "round " << round;
  }
}

template <Fault fault>
std::string with_planted() {
  Rig<test::SlotMalloc<fault, 1024>> rig(small("spheres", 200), 4 << 20);
  return rig.sample();
}

TEST(KdTree, FindsPlantedFaults) {
  EXPECT_EQ(with_planted<Fault::none>(), "");
  EXPECT_NE(with_planted<Fault::double_hand_out>().find("the tree differs from the reference: node root"),
            std::string::npos);
  EXPECT_NE(with_planted<Fault::overlap>().find("the tree differs from the reference: node root"), std::string::npos);
  EXPECT_NE(with_planted<Fault::misaligned>().find("not aligned to 16 B"), std::string::npos);
  EXPECT_NE(with_planted<Fault::null_every_third>().find("returned null after 2 requests"), std::string::npos);
}

TEST(KdTree, IsUnsupportedWhereItCannotRun) {
  const KdTree::Parameters parameters = small("soup", 500);
  using Slots = test::SlotMalloc<Fault::none, 64>;
  try {
    Rig<Slots> rig(parameters, 1 << 20);
    FAIL() << "lists of the first nodes exceed the slots";
  } catch (const CellFailure& failure) {
    EXPECT_EQ(failure.status(), Status::unsupported);
    EXPECT_NE(std::string(failure.what()).find("serves requests up to 64 B"), std::string::npos) << failure.what();
  }
  const std::string in_bulk = test::why_unsupported<KdTree, FdgMallocReworkedOnKma>(parameters);
  EXPECT_NE(in_bulk.find("frees only all blocks of a warp at once"), std::string::npos) << in_bulk;
  KdTree::Parameters ragged = parameters;
  ragged.threads_per_block = 40;
  EXPECT_THROW((test::why_unsupported<KdTree, AtomicMalloc>(ragged)), std::invalid_argument);
}

}  // namespace
}  // namespace allocbench
