// These tests check ArrayList over two allocators, with hand-made sequences and under schedules in which many lanes
// append.
#include "containers/array_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "allocators/circular_malloc/cf_malloc_reworked.hpp"
#include "allocators/kma/kma_reworked.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using List = ArrayList<std::uint64_t>;

struct GrowEach {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, List list, std::uint32_t count, std::uint32_t* nulls) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint64_t* const element = list.grow(thread, allocator);
      if (element == nullptr) {
        thread.atomic(*nulls).fetch_add(1u, simt::relaxed);
      } else {
        *element = std::uint64_t{thread.rank_in_grid()} * count + i;
      }
    }
  }
};

// Thread r of the grid requests r % 4 elements, twice.
struct GrowLocal {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, List list, std::uint32_t* nulls) const {
    const std::uint32_t count = thread.rank_in_grid() % 4;
    for (std::uint32_t round = 0; round < 2; ++round) {
      std::uint64_t* const mine = list.grow_local(thread, allocator, count);
      if (mine == nullptr && count != 0) thread.atomic(*nulls).fetch_add(1u, simt::relaxed);
      for (std::uint32_t i = 0; mine != nullptr && i < count; ++i)
        mine[i] = (thread.rank_in_grid() * 2 + round) * 4 + i;
    }
  }
};

struct ReadAll {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, List list, std::uint64_t* size, std::uint64_t* values) const {
    *size = list.size(thread);
    for (std::uint64_t n = 0; std::uint64_t* const element = list.get(thread, n); ++n) values[n] = *element;
  }
};

struct Clear {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, List list) const {
    list.clear(thread, allocator);
  }
};

template <class A>
class Fixture {
 public:
  explicit Fixture(std::size_t pool_bytes, typename A::Parameters parameters = {}, std::uint64_t seed = 1)
      : rig(pool_bytes, parameters, seed), root_(1), nulls_(1) {
    root_.fill_bytes(rig.stream(), 0);
    nulls_.fill_bytes(rig.stream(), 0);
  }
  List list() { return List(root_.data()); }
  void grow(simt::LaunchShape shape, std::uint32_t count) {
    simt::launch(rig.stream(), shape, GrowEach{}, rig.allocator, list(), count, nulls_.data());
  }
  void grow_local(simt::LaunchShape shape) {
    shape.shared_bytes = List::shared_bytes();
    simt::launch(rig.stream(), shape, GrowLocal{}, rig.allocator, list(), nulls_.data());
  }
  void clear() { simt::launch(rig.stream(), {1, 1}, Clear{}, rig.allocator, list()); }
  std::uint32_t nulls() { return nulls_.to_host(rig.stream())[0]; }
  std::vector<std::uint64_t> values() {
    simt::Buffer<std::uint64_t> read(4096);
    simt::Buffer<std::uint64_t> size(1);
    simt::launch(rig.stream(), {1, 1}, ReadAll{}, list(), size.data(), read.data());
    std::vector<std::uint64_t> all = read.to_host(rig.stream());
    all.resize(size.to_host(rig.stream())[0]);
    return all;
  }

  testing::Rig<A> rig;

 private:
  simt::Buffer<List::Root> root_;
  simt::Buffer<std::uint32_t> nulls_;
};

std::vector<std::uint64_t> first_numbers(std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(ArrayList, OfOneThreadKeepsTheOrderOfItsAppends) {
  Fixture<KmaReworked> fixture(64 * 1024, {.superblock_bytes = 4096});
  EXPECT_TRUE(fixture.values().empty());
  fixture.grow({1, 1}, 10);
  EXPECT_EQ(fixture.values(), first_numbers(10));
  fixture.clear();
  EXPECT_TRUE(fixture.values().empty());
  fixture.grow({1, 1}, 3);
  EXPECT_EQ(fixture.values(), first_numbers(3));
}

TEST(ArrayList, OfABlockKeepsTheRanksOfItsThreads) {
  Fixture<KmaReworked> fixture(256 * 1024, {.superblock_bytes = 4096});
  fixture.grow_local({1, 80});  // two and a half warps
  EXPECT_EQ(fixture.nulls(), 0u);
  std::vector<std::uint64_t> expected;
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t rank = 0; rank < 80; ++rank) {
      for (std::uint64_t i = 0; i < rank % 4; ++i) expected.push_back((rank * 2 + round) * 4 + i);
    }
  }
  EXPECT_EQ(fixture.values(), expected);
}

TEST(ArrayList, GivesNullToTheWholeBlockWhenMemoryIsShort) {
  Fixture<KmaReworked> fixture(1024, {.superblock_bytes = 256});
  fixture.grow_local({1, 64});  // 96 elements are more than half a superblock
  EXPECT_EQ(fixture.nulls(), 2u * 48);
  EXPECT_TRUE(fixture.values().empty());
}

template <class A>
void append_under_many_schedules(typename A::Parameters parameters) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(200); ++seed) {
    Fixture<A> fixture(64 * 1024, parameters, seed);
    for (int round = 0; round < 2; ++round) {
      fixture.grow({2, 24}, 3);
      ASSERT_EQ(fixture.nulls(), 0u) << "seed " << seed;
      std::vector<std::uint64_t> values = fixture.values();
      std::sort(values.begin(), values.end());
      ASSERT_EQ(values, first_numbers(2 * 24 * 3)) << "seed " << seed;
      fixture.grow_local({2, 40});
      ASSERT_EQ(fixture.values().size(), 2u * 24 * 3 + 2 * 2 * 60) << "seed " << seed;
      fixture.clear();
      ASSERT_EQ(fixture.rig.allocator.broken_invariant(fixture.rig.stream()), "") << "seed " << seed;
    }
  }
}
TEST(ArrayList, LosesNoElementUnderAnyScheduleOverKma) {
  append_under_many_schedules<KmaReworked>({.superblock_bytes = 4096});
}
TEST(ArrayList, LosesNoElementUnderAnyScheduleOverCFMalloc) { append_under_many_schedules<CFMallocReworked>({}); }

}  // namespace
}  // namespace allocbench
