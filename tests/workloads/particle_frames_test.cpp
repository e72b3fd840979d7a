// These tests compare the course of the particles of particle_frames with plain counting, and check the frames under
// many schedules.
#include "workloads/particle_frames/particle_frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/seeds.hpp"
#include "tests/workloads/planted_allocators.hpp"
#include "tests/workloads/workload_rig.hpp"
#include "workloads/particle_frames/course.hpp"
#include "workloads/particle_frames/kernels.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

using particles::Course;
using particles::Space;
using test::Fault;
using test::SlotMalloc;
template <class A>
using Rig = test::WorkloadRig<ParticleFrames, A, particles::ParticleKernels, CallKernels>;

ParticleFrames::Parameters small(std::uint32_t steps) {
  ParticleFrames::Parameters parameters;
  parameters.width = 3;
  parameters.particles_per_cell = 12;
  parameters.frame_bytes = 16 + 16 * 5;
  parameters.steps = steps;
  parameters.moving_share = 0.4;
  parameters.threads_per_block = 64;
  return parameters;
}

TEST(Space, SendsParticlesToNeighboursAcrossItsBorders) {
  const Space all_move{4, 1 << 24};
  std::set<std::uint32_t> targets;
  for (std::uint32_t id = 0; id < 1000; ++id) targets.insert(all_move.target(0, id, 5));
  EXPECT_EQ(targets, (std::set<std::uint32_t>{1, 3, 4, 12}));
  EXPECT_EQ((Space{4, 0}.target(0, 1, 1)), Space::stays);
}

TEST(Course, KeepsAllParticles) {
  const Space space{4, 1 << 23};
  const Course course = particles::work_out(space, 1000, 6, 7, 9);
  ASSERT_EQ(course.begin.size(), 7u);
  EXPECT_EQ(course.start.size(), 1000u);
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  for (const MultisetDigest& cell : course.cells) {
    count += cell.count;
    sum += cell.sum;
  }
  EXPECT_EQ(count, 1000u);
  EXPECT_EQ(sum, 999u * 1000 / 2);
  std::uint64_t frames = 0;
  for (const MultisetDigest& cell : course.cells) frames += (cell.count + 6) / 7;
  EXPECT_EQ(course.frames_at_the_end(), frames);
  std::uint64_t live = course.allocated[0];
  for (std::size_t step = 0; step < 6; ++step) live = live - course.freed[step] + course.allocated[step + 1];
  EXPECT_EQ(live, frames);
  for (std::size_t step = 1; step < 7; ++step) EXPECT_NEAR(course.begin[step].back(), 500, 100) << step;
}

TEST(ParticleFrames, AreExactUnderManySchedules) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(12); ++seed) {
    ParticleFrames::Parameters parameters = small(5);
    if (seed % 3 == 0) parameters.frame_bytes = 16 + 16 * 40;
    if (seed % 3 == 1) parameters.moving_share = 1;
    Rig<KmaReworked> rig(parameters, 1 << 20, {.superblock_bytes = 4096}, seed);
    ASSERT_EQ(rig.sample(), "") << "seed " << seed;
    ASSERT_EQ(rig.sample(), "") << "seed " << seed << ": again on the same heap";
  }
}

TEST(ParticleFrames, CountTheirFrames) {
  Rig<AtomicMalloc> rig(small(4), 1 << 20);
  EXPECT_EQ(rig.sample(), "");
  EXPECT_EQ(rig.operations("fill") + rig.operations("arrive"), rig.counter("mallocs"));
  EXPECT_EQ(rig.operations("depart") + rig.operations("free"), rig.counter("frees"));
  EXPECT_GT(rig.operations("depart"), 0u);
  Rig<AtomicMalloc> just_enough(small(4), rig.counter("requested_bytes"));
  EXPECT_EQ(just_enough.sample(), "") << "a bump pointer without headers takes what was asked for";
  Rig<AtomicMalloc> too_little(small(4), rig.counter("requested_bytes") - 16);
  EXPECT_NE(too_little.sample(), "");
}

ParticleFrames::Parameters in_slots(std::uint32_t steps) {
  ParticleFrames::Parameters parameters = small(steps);
  parameters.frame_bytes = 64;
  return parameters;
}

TEST(ParticleFrames, ReuseTheFramesThatWereFreed) {
  const Course course = particles::work_out({3, static_cast<std::uint32_t>(0.4 * 0x1p24)}, 9 * 12, 20, 3, 7);
  std::uint64_t live = 0;
  std::uint64_t most = 0;
  for (std::size_t step = 0; step <= 20; ++step) {
    if (step != 0) live -= course.freed[step - 1];
    live += course.allocated[step];
    most = std::max(most, live);
  }
  ASSERT_GT(course.mallocs(), 2 * most);
  Rig<SlotMalloc<Fault::none>> rig(in_slots(20), 64 * most);
  for (int sample = 0; sample < 2; ++sample) EXPECT_EQ(rig.sample(), "") << sample;
}

TEST(ParticleFrames, EndCleanlyWhereMemoryRunsOut) {
  Rig<SlotMalloc<Fault::none>> rig(in_slots(5), 64 * 20);
  for (int sample = 0; sample < 3; ++sample) {
    const std::string problem = rig.sample();
    EXPECT_NE(problem.find(" nulls"), std::string::npos) << problem;
  }
}

TEST(ParticleFrames, SeeABlockThatWasHandedOutTwice) {
  Rig<SlotMalloc<Fault::double_hand_out>> rig(in_slots(0), 1 << 16);
  EXPECT_NE(rig.sample(), "");
}

TEST(ParticleFrames, SayWhyAnAllocatorCannotRunThem) {
  EXPECT_NE((test::why_unsupported<ParticleFrames, FdgMallocReworkedOnKma>(small(1), 8 << 20)), "");
  EXPECT_NE((test::why_unsupported<ParticleFrames, SlotMalloc<Fault::none>>(small(1))), "");
  ParticleFrames::Parameters odd = small(1);
  odd.threads_per_block = 40;
  EXPECT_THROW((test::why_unsupported<ParticleFrames, AtomicMalloc>(odd)), std::invalid_argument);
}

}  // namespace
}  // namespace allocbench
