// These tests check which lanes of a warp form groups in the allocator BulkAlloc. On an H200, a kernel may not end if
// the leaders of several groups of a warp form a new group (docs/findings.md). No schedule of the CPU executor shows
// this, so the tests check the rule that prevents it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "allocators/bulkalloc/bulkalloc.hpp"
#include "tests/allocators/fidelity/rig.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using testing::FidelityRig;

using Rig = FidelityRig<BulkAlloc>;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// AskingThread counts how often its thread calls converged().
template <class Base>
class AskingThread : public Base {
 public:
  explicit AskingThread(const Base& thread) : Base(thread) {}

  auto converged(simt::CallSite site = simt::CallSite::here()) {
    ++asked_;
    return Base::converged(site);
  }
  std::uint32_t asked() const { return asked_; }

 private:
  std::uint32_t asked_ = 0;
};

struct MallocAndFree {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BulkAlloc allocator, const std::uint64_t* sizes, void** blocks) const {
    const std::uint32_t lane = thread.lane();
    AskingThread<Thread> mallocs(thread);
    blocks[lane] = allocator.malloc(mallocs, sizes[lane]);
    EXPECT_EQ(mallocs.asked(), 1u) << "malloc of lane " << lane;
    AskingThread<Thread> frees(thread);
    allocator.free(frees, blocks[lane]);
    EXPECT_EQ(frees.asked(), 1u) << "free of lane " << lane;
  }
};

// Votes in the first group of a call determine all later groups. In a fresh heap, the lanes make a chunk and several
// bins, some of the same size.
TEST(BulkAllocGroups, ACallAsksOnceWhoRunsBesideIt) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(10); ++seed) {
    Rig rig(mebibyte, {}, seed);
    std::vector<std::uint64_t> requests(32, 1024);
    for (std::size_t lane = 0; lane < requests.size(); lane += 2) requests[lane] = std::size_t{16} << lane % 10;
    simt::Buffer<std::uint64_t> sizes(32);
    sizes.from_host(rig.stream(), requests);
    simt::Buffer<void*> blocks(32);
    simt::launch(rig.stream(), {1, 32}, MallocAndFree{}, rig.allocator, static_cast<const std::uint64_t*>(sizes.data()),
                 blocks.data());
    const std::vector<void*> got = blocks.to_host(rig.stream());
    EXPECT_EQ(std::count(got.begin(), got.end(), nullptr), 0);
    EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "") << "seed " << seed;
  }
}

// In FreeBesideAHeldLock, lane 0 frees a slot of a full bin and needs the lock of the list, which a lane of another
// warp holds for a long time.
struct FreeBesideAHeldLock {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, BulkAlloc allocator, void** blocks, std::uint32_t* time,
                          std::uint32_t* left) const {
    std::uint32_t& lock = allocator.small().lists[0].lock;
    const auto now = thread.atomic(*time);
    const auto lanes_left = thread.atomic(*left);
    if (thread.warp_in_block() == 0) {
      while (now.load(simt::acquire) == 0) thread.spin_hint();
      thread.warp().sync();
      allocator.free(thread, blocks[thread.lane()]);
      lanes_left.fetch_add(1, simt::relaxed);
    } else if (thread.lane() == 0) {
      EXPECT_TRUE(try_lock(thread, lock));
      for (int i = 0; i < 1000; ++i) {
        now.fetch_add(1, simt::release);
        thread.spin_hint();
      }
      EXPECT_EQ(lanes_left.load(simt::relaxed), 0u);
      unlock(thread, lock);
    }
  }
};

// If lanes could leave the same free one by one, some of them might allocate while others are still in free.
TEST(BulkAllocGroups, LanesThatFreeTogetherLeaveTogether) {
  Rig rig(mebibyte);
  std::vector<void*> blocks = rig.warp_mallocs(16).blocks;
  void* const of_full_bin = blocks[0];
  for (int i = 0; i < 8; ++i) blocks = rig.warp_mallocs(16).blocks;
  ASSERT_NE(rig.offset(of_full_bin) / 4096, rig.offset(blocks[0]) / 4096) << "two bins";
  blocks[0] = of_full_bin;
  simt::Buffer<void*> to_free(32);
  to_free.from_host(rig.stream(), blocks);
  simt::Buffer<std::uint32_t> words(2);
  words.from_host(rig.stream(), {0, 0});
  simt::launch(rig.stream(), {1, 64}, FreeBesideAHeldLock{}, rig.allocator, to_free.data(), words.data(),
               words.data() + 1);
  EXPECT_EQ(words.to_host(rig.stream())[1], 32u);
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

}  // namespace
}  // namespace allocbench
