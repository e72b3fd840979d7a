// The designs listed below must keep four promises. A request larger than the pool returns null and changes nothing.
// Requests of zero bytes follow the trait. A fresh pool serves max_request. If the traits promise a reset(), the reset
// makes a full pool fresh. The contract suite (tests/contract) checks all designs.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/bump/aw_malloc.hpp"
#include "allocators/circular_malloc/c_malloc_reworked.hpp"
#include "allocators/circular_malloc/cfm_malloc.hpp"
#include "allocators/circular_malloc/cfm_malloc_reworked.hpp"
#include "allocators/cuda_malloc/cuda_malloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc.hpp"
#include "allocators/fdgmalloc/fdgmalloc_reworked_on.hpp"
#include "allocators/halloc/halloc.hpp"
#include "allocators/halloc/halloc_reworked.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "allocators/ouroboros/ouroboros_c.hpp"
#include "allocators/ouroboros/ouroboros_c_reworked.hpp"
#include "allocators/ouroboros/ouroboros_p.hpp"
#include "allocators/ouroboros/ouroboros_p_reworked.hpp"
#include "allocators/random_walk/corw_reworked.hpp"
#include "allocators/random_walk/crw_reworked.hpp"
#include "allocators/random_walk/rw_bm_reworked.hpp"
#include "allocators/random_walk/rw_malloc_reworked.hpp"
#include "allocators/random_walk/rw_reworked.hpp"
#include "allocators/scatteralloc/scatteralloc.hpp"
#include "allocators/scatteralloc/scatteralloc_reworked.hpp"
#include "allocators/simple_queue/simple_queue.hpp"
#include "allocators/xmalloc/xmalloc.hpp"
#include "allocators/xmalloc/xmalloc_reworked.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench {
namespace {

using testing::Rig;

constexpr std::size_t KiB = 1024;

template <class A>
class RequestLimitsTest : public ::testing::Test {};
using Designs =
    ::testing::Types<AtomicMalloc, AWMalloc, CMallocReworked, CFMMallocReworked, CFMMallocNoMerge, CudaMalloc,
                     FdgMalloc, FdgMallocReworked, FdgMallocReworkedOnCFMMalloc, FdgMallocReworkedOnKma, Halloc,
                     HallocReworked, KmaReworked, OuroborosPS, OuroborosPVA, OuroborosPVL, OuroborosCS, OuroborosCVL,
                     OuroborosPSReworked, OuroborosPVAReworked, OuroborosPVLReworked, OuroborosCSReworked,
                     OuroborosCVLReworked, RandomWalkReworked, RandomWalkBitmapReworked, ClusteredRandomWalkReworked,
                     CollaborativeRandomWalkReworked, RandomWalkMallocReworked, ScatterAlloc, ScatterAllocReworked,
                     SimpleQueue, XMalloc, XMallocDeviceHeap, XMallocReworked, XMallocDeviceHeapReworked>;
TYPED_TEST_SUITE(RequestLimitsTest, Designs);

// Returns null if the design cannot serve this pool.
template <class A>
std::unique_ptr<Rig<A>> rig_or_unsupported(std::size_t pool_bytes, std::uint64_t seed = 1) {
  try {
    return std::make_unique<Rig<A>>(pool_bytes, typename A::Parameters{}, seed);
  } catch (const Unsupported&) {
    return nullptr;
  }
}

// Returns sizes above the pool. Most of them overflow if an allocator rounds them up, adds a header, multiplies them by
// 32 or cuts them to 32 bits.
std::vector<std::uint64_t> absurd_sizes(std::size_t pool_bytes) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> sizes{pool_bytes + 1, pool_bytes + 4096, std::uint64_t{1} << 63, std::uint64_t{1} << 59};
  for (const std::uint64_t below : {0, 1, 7, 14, 15, 16, 17, 31, 32, 4095, 4096, 65535}) sizes.push_back(most - below);
  for (const std::uint64_t beyond : {0, 1, 16, 256}) sizes.push_back((std::uint64_t{1} << 32) + beyond);
  for (const std::uint64_t beyond : {0, 1, 16}) sizes.push_back((std::uint64_t{1} << 36) + beyond);
  return sizes;
}

template <class A>
void expect_no_broken_invariant(Rig<A>& rig) {
  if constexpr (requires { rig.allocator.broken_invariant(rig.stream()); }) {
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

TYPED_TEST(RequestLimitsTest, RefusesWhatNoPoolHoldsAndStaysAsItWas) {
  constexpr std::size_t pool_bytes = 8192 * KiB;
  const auto rig = rig_or_unsupported<TypeParam>(pool_bytes);
  ASSERT_NE(rig, nullptr);
  for (const std::uint64_t size : absurd_sizes(pool_bytes)) {
    EXPECT_EQ(rig->malloc({size})[0], nullptr) << size;
    // The callers are a whole warp, a block of 33 threads, and a part of a warp.
    for (const std::size_t threads : {32, 33, 5}) {
      for (void* block : rig->malloc(std::vector<std::uint64_t>(threads, size), 64)) ASSERT_EQ(block, nullptr) << size;
    }
  }
  expect_no_broken_invariant(*rig);
  // In one warp, every second lane makes a small request, and the other lanes request these sizes.
  std::vector<std::uint64_t> mixed = absurd_sizes(pool_bytes);
  for (std::size_t i = 0; i < mixed.size(); i += 2) mixed[i] = 16;
  const std::vector<void*> blocks = rig->malloc(mixed);
  for (std::size_t i = 0; i < mixed.size(); ++i) EXPECT_EQ(blocks[i] != nullptr, i % 2 == 0) << mixed[i];
  expect_no_broken_invariant(*rig);
  if (TypeParam::traits.frees == Frees::individually) rig->free(blocks);
  if constexpr (TypeParam::traits.frees == Frees::never && TypeParam::traits.pool == PoolLocation::arena) {
    // Only the small blocks have moved the bump pointer.
    const std::vector<void*> next = rig->malloc({16});
    EXPECT_EQ(rig->offset(next[0]), static_cast<std::ptrdiff_t>(mixed.size() + 1) / 2 * 16);
  }
}

TYPED_TEST(RequestLimitsTest, ServesZeroBytesAsItsTraitSays) {
  const auto rig = rig_or_unsupported<TypeParam>(8192 * KiB);
  ASSERT_NE(rig, nullptr);
  const std::vector<void*> blocks = rig->malloc(std::vector<std::uint64_t>(40, 0), 64);
  if (TypeParam::traits.zero == ZeroBytes::null) {
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 40);
  } else {
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 40u);
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
    rig->free(blocks, 64);
  }
  rig->free(std::vector<void*>(33, nullptr), 33);
  expect_no_broken_invariant(*rig);
}

TYPED_TEST(RequestLimitsTest, AFreshPoolServesMaxRequest) {
  for (const std::size_t pool_bytes : {std::size_t{64}, std::size_t{1000}, std::size_t{4096}, 16 * KiB, 64 * KiB,
                                       100 * KiB, 256 * KiB, 1000 * KiB, 6144 * KiB + 24}) {
    SCOPED_TRACE(::testing::Message() << "pool of " << pool_bytes);
    const auto rig = rig_or_unsupported<TypeParam>(pool_bytes);
    if (rig == nullptr) continue;
    const std::size_t most = max_request<TypeParam>(pool_bytes, {});
    EXPECT_LE(most, pool_bytes);
    EXPECT_NE(rig->malloc({most})[0], nullptr) << most;
  }
}

TYPED_TEST(RequestLimitsTest, ResetMakesAFullPoolFresh) {
  if constexpr (TypeParam::traits.fresh == Fresh::by_reset && !TypeParam::traits.recycles_unfreed) {
    constexpr std::size_t pool_bytes = 256 * KiB;
    const auto rig = rig_or_unsupported<TypeParam>(pool_bytes);
    if (rig == nullptr) return;
    const std::size_t most = max_request<TypeParam>(pool_bytes, {});
    for (const std::size_t bytes : {std::min<std::size_t>(most, 100), most}) {
      const auto fill = [&] {
        std::size_t served = 0;
        while (served < 20'000 && rig->malloc({bytes})[0] != nullptr) ++served;
        return served;
      };
      const std::size_t first = fill();
      EXPECT_GT(first, 0u) << bytes;
      rig->allocator.reset(rig->stream());
      expect_no_broken_invariant(*rig);
      // Random walks give up by chance if few pages are left.
      EXPECT_GE(fill(), first * 95 / 100) << bytes;
      rig->allocator.reset(rig->stream());
    }
  }
}

}  // namespace
}  // namespace allocbench
