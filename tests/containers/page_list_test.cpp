// These tests check PageList with hand-made sequences, under schedules in which many lanes append, under all schedules
// of few lanes, and when memory runs out.
#include "containers/page_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocators/random_walk/rw_reworked.hpp"
#include "containers/page_writer.hpp"
#include "simt/cpu/search/exploration.hpp"
#include "tests/allocators/harness.hpp"
#include "tests/seeds.hpp"

namespace allocbench {
namespace {

using Chain = PageChain<std::uint64_t>;
using GlobalPages = PageList<std::uint64_t, simt::Space::global>;
using SharedPages = PageList<std::uint64_t, simt::Space::shared>;

constexpr std::uint64_t page_bytes = 48;  // 4 records

struct ClearLists {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, GlobalPages lists, GlobalPages::Tail* tails, std::uint32_t count) const {
    if (thread.rank_in_grid() < count) lists.clear(thread, tails[thread.rank_in_grid()]);
  }
};

// Thread r appends r * rounds + i in round i to list r % count. Every third thread leaves out every second round.
struct AppendToLists {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, GlobalPages lists, GlobalPages::Tail* tails, std::uint32_t count,
                          std::uint32_t rounds, std::uint32_t* lost, std::uint32_t* pages) const {
    const std::uint32_t rank = thread.rank_in_grid();
    for (std::uint32_t i = 0; i < rounds; ++i) {
      const bool wants = rank % 3 != 0 || i % 2 == 0;
      const bool stored = lists.append(thread, allocator, wants, &tails[rank % count], std::uint64_t{rank} * rounds + i,
                                       [&](std::uint64_t) { thread.atomic(*pages).fetch_add(1u, simt::relaxed); });
      if (!stored) thread.atomic(*lost).fetch_add(1u, simt::relaxed);
    }
  }
};

struct FinishLists {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, GlobalPages lists, GlobalPages::Tail* tails, std::uint32_t count,
                          std::uint64_t* newest) const {
    if (thread.rank_in_grid() < count)
      newest[thread.rank_in_grid()] = lists.finish(thread, tails[thread.rank_in_grid()]);
  }
};

// A thread block appends to one list in shared memory. Then it stores the list's newest page and number of records.
struct AppendToShared {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, SharedPages lists, std::uint64_t* newest,
                          std::uint32_t* records) const {
    SharedPages::Tail& tail = *thread.template shared<SharedPages::Tail>(1);
    if (thread.rank_in_block() == 0) lists.clear(thread, tail);
    thread.block_barrier();
    lists.append(thread, allocator, true, &tail, std::uint64_t{thread.rank_in_block()}, [](std::uint64_t) {});
    thread.block_barrier();
    if (thread.rank_in_block() != 0) return;
    *newest = lists.finish(thread, tail);
    *records = tail.records;
  }
};

std::vector<std::uint64_t> contents(std::uint64_t newest, std::uint64_t records, std::uint32_t capacity) {
  std::vector<std::uint64_t> all;
  bool first = true;
  const bool whole = Chain::for_each_page(newest, records, [&](std::uint64_t page, std::uint32_t count) {
    EXPECT_TRUE(first || count == capacity) << "all pages but the newest are full";
    first = false;
    all.insert(all.end(), Chain::records(page), Chain::records(page) + count);
  });
  EXPECT_TRUE(whole);
  std::sort(all.begin(), all.end());
  return all;
}

template <class A>
class Fixture {
 public:
  Fixture(std::size_t pool_bytes, std::uint32_t count, std::uint64_t seed = 1,
          const typename A::Parameters& parameters = {})
      : rig(pool_bytes, parameters, seed), count_(count), tails_(count), newest_(count), numbers_(2) {
    numbers_.fill_bytes(rig.stream(), 0);
    simt::launch(rig.stream(), {1, 32}, ClearLists{}, lists_, tails_.data(), count);
  }
  void append(simt::LaunchShape shape, std::uint32_t rounds) {
    simt::launch(rig.stream(), shape, AppendToLists{}, rig.allocator, lists_, tails_.data(), count_, rounds,
                 numbers_.data(), numbers_.data() + 1);
    simt::launch(rig.stream(), {1, 32}, FinishLists{}, lists_, tails_.data(), count_, newest_.data());
  }
  std::uint32_t lost() { return numbers_.to_host(rig.stream())[0]; }
  std::uint32_t pages() { return numbers_.to_host(rig.stream())[1]; }
  std::vector<std::uint64_t> list(std::uint32_t i) {
    return contents(newest_.to_host(rig.stream())[i], tails_.to_host(rig.stream())[i].records, lists_.capacity());
  }

  testing::Rig<A> rig;

 private:
  GlobalPages lists_{page_bytes};
  std::uint32_t count_;
  simt::Buffer<GlobalPages::Tail> tails_;
  simt::Buffer<std::uint64_t> newest_;
  simt::Buffer<std::uint32_t> numbers_;  // lost records, pages
};

std::vector<std::uint64_t> expected(std::uint32_t threads, std::uint32_t lists, std::uint32_t rounds,
                                    std::uint32_t list) {
  std::vector<std::uint64_t> all;
  for (std::uint32_t rank = list; rank < threads; rank += lists) {
    for (std::uint32_t i = 0; i < rounds; ++i) {
      if (rank % 3 != 0 || i % 2 == 0) all.push_back(std::uint64_t{rank} * rounds + i);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(PageList, OfOneThreadFillsPageAfterPage) {
  Fixture<AtomicMalloc> fixture(1 << 12, 1);
  fixture.append({1, 1}, 3);
  EXPECT_EQ(fixture.list(0), expected(1, 1, 3, 0));
  EXPECT_EQ(fixture.pages(), 1u);
  Fixture<AtomicMalloc> more(1 << 12, 1);
  more.append({1, 1}, 17);  // 9 records
  EXPECT_EQ(more.list(0), expected(1, 1, 17, 0));
  EXPECT_EQ(more.pages(), 3u);
}

TEST(PageList, IsEmptyWithoutRecords) {
  Fixture<AtomicMalloc> fixture(1 << 12, 3);
  fixture.append({1, 2}, 1);
  EXPECT_TRUE(fixture.list(2).empty());
}

TEST(PageList, LosesNoRecordUnderManySchedules) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(60); ++seed) {
    const std::uint32_t lists = seed % 2 == 0 ? 1 : 5;
    Fixture<AtomicMalloc> fixture(1 << 16, lists, seed);
    fixture.append({2, 80}, 3);  // two and a half warps
    ASSERT_EQ(fixture.lost(), 0u);
    std::uint32_t pages = 0;
    for (std::uint32_t i = 0; i < lists; ++i) {
      const std::vector<std::uint64_t> all = expected(160, lists, 3, i);
      ASSERT_EQ(fixture.list(i), all) << "seed " << seed;
      pages += static_cast<std::uint32_t>(all.size() + 3) / 4;
    }
    ASSERT_EQ(fixture.pages(), pages) << "a page is begun before the one before is full, seed " << seed;
  }
}

TEST(PageList, LosesNoRecordOverAnAllocatorThatSearches) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(30); ++seed) {
    Fixture<RandomWalkReworked> fixture(64 * 64, 2, seed, {.page_bytes = 64});
    fixture.append({2, 40}, 2);
    ASSERT_EQ(fixture.lost(), 0u);
    for (std::uint32_t i = 0; i < 2; ++i) ASSERT_EQ(fixture.list(i), expected(80, 2, 2, i)) << "seed " << seed;
  }
}

TEST(PageList, WorksInSharedMemory) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(30); ++seed) {
    testing::Rig<AtomicMalloc> rig(1 << 13, {}, seed);
    simt::Buffer<std::uint64_t> newest(1);
    simt::Buffer<std::uint32_t> records(1);
    simt::launch(rig.stream(), {1, 96, sizeof(SharedPages::Tail)}, AppendToShared{}, rig.allocator,
                 SharedPages(page_bytes), newest.data(), records.data());
    std::vector<std::uint64_t> numbers(96);
    std::iota(numbers.begin(), numbers.end(), 0u);
    ASSERT_EQ(contents(newest.to_host(rig.stream())[0], records.to_host(rig.stream())[0], 4), numbers) << seed;
  }
}

// The first lane of each warp appends two records.
struct AppendTwo {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, GlobalPages lists, GlobalPages::Tail* tail,
                          std::uint32_t* lost) const {
    const bool wants = thread.lane() == 0;
    for (std::uint32_t i = 0; i < 2; ++i) {
      const std::uint64_t record = thread.block() * 2 + i;
      if (!lists.append(thread, allocator, wants, tail, record, [](std::uint64_t) {})) {
        thread.atomic(*lost).fetch_add(1u, simt::relaxed);
      }
    }
  }
};

TEST(PageList, LosesNoRecordUnderAllSchedulesWithTwoPreemptions) {
  for (const std::size_t room : {8, 2}) {  // pages: enough for all six records, and for four
    const auto paths = std::make_shared<simt::Exploration>(2, 1);
    simt::ExecutorOptions options;
    options.mode = simt::ExecutorMode::deterministic;
    simt::Device device(options);
    options.strategy = simt::StrategyKind::exploring;
    options.exploration = paths;
    const GlobalPages lists(32);  // two records
    do {
      device.restart(options);
      simt::Stream stream(device);
      Arena arena(stream, room * 32);
      const AtomicMalloc allocator = AtomicMalloc::create(arena, {});
      simt::Buffer<GlobalPages::Tail> tail(1);
      simt::Buffer<std::uint64_t> newest(1);
      simt::Buffer<std::uint32_t> lost(1);
      lost.fill_bytes(stream, 0);
      simt::launch(stream, {1, 1}, ClearLists{}, lists, tail.data(), 1u);
      simt::launch(stream, {3, 1}, AppendTwo{}, allocator, lists, tail.data(), lost.data());
      simt::launch(stream, {1, 1}, FinishLists{}, lists, tail.data(), 1u, newest.data());
      const std::uint32_t records = tail.to_host(stream)[0].records;
      ASSERT_EQ(records, room == 8 ? 6u : 4u);
      ASSERT_EQ(records + lost.to_host(stream)[0], 6u);
      const std::vector<std::uint64_t> stored = contents(newest.to_host(stream)[0], records, 2);
      ASSERT_EQ(std::set<std::uint64_t>(stored.begin(), stored.end()).size(), records);
    } while (paths->advance());
    EXPECT_TRUE(paths->exhausted());
    EXPECT_GT(paths->runs(), 100u);
  }
}

// Stored records are intact, dropped records are counted, and no thread waits forever.
TEST(PageList, DropsRecordsWithoutMemory) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(30); ++seed) {
    Fixture<AtomicMalloc> fixture(7 * page_bytes, 2, seed);
    fixture.append({2, 64}, 2);
    const std::size_t stored = fixture.list(0).size() + fixture.list(1).size();
    const std::size_t wanted = expected(128, 2, 2, 0).size() + expected(128, 2, 2, 1).size();
    ASSERT_EQ(stored + fixture.lost(), wanted) << "seed " << seed;
    ASSERT_EQ(stored, 7u * 4) << "seed " << seed;
    ASSERT_EQ(fixture.pages(), 7u);
  }
}

struct WriteOwn {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint32_t records, std::uint64_t* newest,
                          std::uint32_t* written, std::uint32_t* lost) const {
    PageWriter<std::uint64_t> writer(page_bytes);
    for (std::uint32_t i = 0; i < records; ++i) {
      if (!writer.append(thread, allocator, i)) ++*lost;
    }
    writer.close();
    *newest = writer.newest_page();
    *written = writer.records();
  }
};

TEST(PageWriter, KeepsWhatFits) {
  for (const std::uint32_t records : {0u, 1u, 4u, 5u, 12u, 13u, 40u}) {
    testing::Rig<AtomicMalloc> rig(3 * page_bytes, {}, 1);
    simt::Buffer<std::uint64_t> newest(1);
    simt::Buffer<std::uint32_t> numbers(2);
    numbers.fill_bytes(rig.stream(), 0);
    simt::launch(rig.stream(), {1, 1}, WriteOwn{}, rig.allocator, records, newest.data(), numbers.data(),
                 numbers.data() + 1);
    const std::uint32_t kept = std::min(records, 12u);
    EXPECT_EQ(numbers.to_host(rig.stream()), (std::vector<std::uint32_t>{kept, records - kept}));
    std::vector<std::uint64_t> all(kept);
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_EQ(contents(newest.to_host(rig.stream())[0], kept, 4), all);
  }
}

TEST(PageChain, IsReadUpToAWrongHeader) {
  alignas(16) std::byte memory[2][page_bytes];
  const auto older = reinterpret_cast<std::uint64_t>(memory[0]);
  const auto newer = reinterpret_cast<std::uint64_t>(memory[1]);
  const auto read = [&](std::uint64_t total) {
    std::uint32_t pages = 0;
    const bool whole = Chain::for_each_page(newer, total, [&](std::uint64_t, std::uint32_t) { ++pages; });
    return std::pair(whole, pages);
  };
  Chain::write_header(older, 0, 4);
  Chain::write_header(newer, older, 2);
  EXPECT_EQ(read(6), std::pair(true, 2u));
  EXPECT_EQ(read(7), std::pair(false, 2u)) << "the chain ends too early";
  EXPECT_EQ(read(5), std::pair(false, 1u)) << "a page has too many records";
  Chain::header(older)->before = newer;
  EXPECT_EQ(read(6), std::pair(false, 1u)) << "overwritten";
}

}  // namespace
}  // namespace allocbench
