// Conformance of kernel families: these tests check that a member gives the same results as a separate kernel.
#pragma once

#include <array>

#include "tests/simt/block_tests.hpp"
#include "tests/simt/conformance.hpp"

namespace simt::conformance {

struct WideArgument {
  alignas(16) std::uint64_t first;
  std::uint64_t second;
};

// The members share this function.
template <class Thread>
SIMT_NOINLINE_FN std::uint32_t lanes_where(Thread& thread, bool predicate) {
  return thread.warp().ballot(predicate);
}

// WriteArguments has arguments that leave gaps when they are packed.
struct WriteArguments {
  std::uint32_t factor;

  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, std::uint8_t small, WideArgument wide,
                          std::uint16_t last) const {
    wide.second += thread.rank_in_grid();
    std::uint32_t* const mine = output + thread.rank_in_grid() * 4;
    mine[0] = factor * small;
    mine[1] = static_cast<std::uint32_t>(wide.first + wide.second);
    mine[2] = last;
    mine[3] = lanes_where(thread, thread.lane() % 3 == 0);
  }
};

struct Multiples {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output, std::uint32_t divisor) const {
    output[thread.rank_in_grid()] = lanes_where(thread, thread.lane() % divisor == 0);
  }
};

template <class Thread>
SIMT_NOINLINE_FN void exit_below(Thread& thread, std::uint32_t lane) {
  if (thread.lane() < lane) thread.exit();
}

// In OthersExit, the last lane of each warp continues alone.
struct OthersExit {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* output) const {
    exit_below(thread, 31);
    thread.block_barrier();
    output[thread.rank_in_grid()] = lanes_where(thread, true);
  }
};

using ArgumentsMember = FamilyMember<WriteArguments, std::uint32_t*, std::uint8_t, WideArgument, std::uint16_t>;
using MultiplesMember = FamilyMember<Multiples, std::uint32_t*, std::uint32_t>;
using ExitMember = FamilyMember<OthersExit, std::uint32_t*>;
using SharedMember = FamilyMember<Histogram, std::uint32_t*>;
using BarrierMember = FamilyMember<GridBarrier, std::uint32_t*, std::uint32_t*>;
using Family = KernelFamily<ArgumentsMember, MultiplesMember, ExitMember, SharedMember, BarrierMember>;

class KernelFamilies : public Conformance {
 protected:
  template <class Kernel, class... Args>
  void launch_member(LaunchShape shape, Kernel kernel, Args... args) {
    const std::array<const void*, 1 + sizeof...(Args)> arguments{&kernel, &args...};
    launch_kernel(stream(), shape, Family::pointer<FamilyMember<Kernel, Args...>>(), arguments);
  }
  // Launches a member through the family's entry. Otherwise it is like run().
  template <class Kernel, class... Args>
  std::vector<std::uint32_t> run_member(LaunchShape shape, std::size_t per_thread, Kernel kernel, Args... args) {
    auto output = zeros<std::uint32_t>(std::size_t{shape.blocks} * shape.threads_per_block * per_thread);
    launch_member(shape, kernel, output.data(), args...);
    return output.to_host(stream());
  }
};

INSTANTIATE_TEST_SUITE_P(Simt, KernelFamilies, ::testing::ValuesIn(settings()),
                         [](const ::testing::TestParamInfo<Setting>& setting) { return setting.param.name; });

TEST_P(KernelFamilies, FamilyMembersGetTheirArguments) {
  const WriteArguments kernel{7};
  const WideArgument wide{1000, 20};
  const auto seen = run_member({3, 64}, 4, kernel, std::uint8_t{6}, wide, std::uint16_t{65535});
  for (std::uint32_t thread = 0; thread < 192; ++thread) {
    const std::vector<std::uint32_t> mine(&seen[thread * 4], &seen[thread * 4] + 4);
    EXPECT_EQ(mine, (std::vector<std::uint32_t>{42, 1020 + thread, 65535, 0x49249249u}));
  }
}

TEST_P(KernelFamilies, FamilyMembersActAsOnTheirOwn) {
  EXPECT_EQ(run_member({2, 96}, 1, Multiples{}, 5u), run({2, 96}, 1, Multiples{}, 5u));
  EXPECT_EQ(run_member({2, 96}, 1, Multiples{}, 1u), std::vector<std::uint32_t>(192, full_warp));
  const auto alone = run_member({2, 96}, 1, OthersExit{});
  for (std::uint32_t thread = 0; thread < 192; ++thread) {
    EXPECT_EQ(alone[thread], thread % 32 == 31 ? 0x80000000u : 0u) << thread;
  }
}

// This test uses the largest possible block and dynamic shared memory.
TEST_P(KernelFamilies, FamilyTakesBlocksOfAnySize) {
  const auto seen = run_member({1, max_threads_per_block, 8 * sizeof(std::uint32_t)}, 1, Histogram{});
  EXPECT_EQ(seen, std::vector<std::uint32_t>(max_threads_per_block, max_threads_per_block / 8));
}

TEST_P(KernelFamilies, FamilyBlocksMeetAcrossTheGrid) {
  const KernelPointer barrier = Family::pointer<BarrierMember>();
  const std::uint32_t blocks = max_resident_blocks(stream(), barrier, 64, 0);
  ASSERT_GT(blocks, 0u);
  auto arrivals = zeros<std::uint32_t>(1);
  auto late = zeros<std::uint32_t>(1);
  launch_member({blocks, 64}, GridBarrier{}, arrivals.data(), late.data());
  EXPECT_EQ(arrivals.to_host(stream())[0], 3 * blocks);
  EXPECT_EQ(late.to_host(stream())[0], 0u);
}

TEST_P(KernelFamilies, FamilyMembersShareTheirAttributes) {
  const KernelAttributes shared = kernel_attributes(Family::pointer<SharedMember>());
  const KernelAttributes arguments = kernel_attributes(Family::pointer<ArgumentsMember>());
  EXPECT_EQ(shared.registers, arguments.registers);
  EXPECT_EQ(shared.registers > 0, SIMT_CUDA == 1);
  EXPECT_LE(shared.registers, 65536 / 1024);
  EXPECT_EQ(Family::pointer<SharedMember>().entry == Family::pointer<ArgumentsMember>().entry, SIMT_CUDA == 1);
}

}  // namespace simt::conformance
