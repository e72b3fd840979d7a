// No lane is refused while pages are free: lanes of a full heap free their blocks and ask again, together with others
// that come empty-handed, so that takers overdraw the semaphore, give back and hide what was freed in between.
//
// Every lane that frees also asks, so as many requests fail as there are lanes too many, and after the first failure no
// page may be left over.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocators/ouroboros/ouroboros_c.hpp"
#include "allocators/ouroboros/ouroboros_p.hpp"
#include "tests/allocators/churn.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench {
namespace {

using testing::Rig;

struct FreeAndAskAgain {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, void** blocks, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    allocator.free(thread, blocks[i]);
    blocks[i] = allocator.malloc(thread, 16);
  }
};

template <class A>
class RefillTest : public ::testing::Test {};
using Variants = ::testing::Types<OuroborosPS, OuroborosPVL, OuroborosCS>;
TYPED_TEST_SUITE(RefillTest, Variants);

TYPED_TEST(RefillTest, RefusesNobodyWhilePagesAreFree) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(2000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    auto small = small_heap<TypeParam>();
    small.pool_bytes = 2048;
    Rig<TypeParam> rig(small.pool_bytes, small.parameters, seed, 4, simt::StrategyKind::swarm);
    std::vector<void*> blocks = rig.malloc(std::vector<std::uint64_t>(128, 16));
    blocks.erase(std::remove(blocks.begin(), blocks.end(), nullptr), blocks.end());
    ASSERT_GT(blocks.size(), 8u);
    ASSERT_LT(blocks.size(), 128u);
    const std::size_t holders = 1 + seed % 4;
    blocks.resize(holders);
    for (int round = 0; round < 3; ++round) {
      blocks.resize(holders + 1 + seed / 4 % 4, nullptr);
      std::rotate(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(seed / 16 % blocks.size()),
                  blocks.end());
      simt::Buffer<void*> on_device(blocks.size());
      on_device.from_host(rig.stream(), blocks);
      const auto count = static_cast<std::uint32_t>(blocks.size());
      const std::uint32_t threads = 1u << seed % 3;
      simt::launch(rig.stream(), {(count - 1) / threads + 1, threads}, FreeAndAskAgain{}, rig.allocator,
                   on_device.data(), count);
      blocks = on_device.to_host(rig.stream());
      blocks.erase(std::remove(blocks.begin(), blocks.end(), nullptr), blocks.end());
      ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
      ASSERT_EQ(blocks.size(), holders) << "round " << round << ": a page is free, but requests were refused";
    }
  }
}

}  // namespace
}  // namespace allocbench
