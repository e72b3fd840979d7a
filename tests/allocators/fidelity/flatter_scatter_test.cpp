// These tests compare the operations of FlatterScatter on shared words with numbers worked out by hand from mallocMC 3,
// FlatterScatter/AccessBlock.hpp.
#include "allocators/flatter_scatter/flatter_scatter.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/fidelity/rig.hpp"

namespace allocbench {
namespace {

using flatter_scatter::PageLayout;
using testing::Calls;
using testing::FidelityRig;
using testing::Ops;

// One access block has three pages of 256 bytes. A page has 15 chunks of 16 bytes, 7 of 32, 3 of 64 or 2 of 112.
// Requests of 126 bytes and more take whole pages.
const flatter_scatter::Parameters small_pages{.access_block_bytes = 1024, .page_bytes = 256};
constexpr std::size_t three_pages = 3 * (256 + 8);

// A search loads once the place where it begins.
constexpr Ops begin{.loads = 1};
// A malloc on an unused page makes three read-modify-writes: an addition to the filling, a compare-exchange of the
// chunk size, and an OR for the bit.
constexpr Ops take{.updates = 2, .compare_exchanges = 1};
// A malloc on a page that already has its size makes the same operations and loses the compare-exchange.
constexpr Ops take_again{.updates = 2, .compare_exchanges = 1, .lost = 1};
// At a full page, a search adds to the filling and subtracts again.
constexpr Ops full_page{.updates = 2};
// At a page of another size, a search also loses a compare-exchange of the chunk size.
constexpr Ops other_page{.updates = 2, .compare_exchanges = 1, .lost = 1};
// A free loads the chunk size, clears the bit (1 AND) and subtracts from the filling.
constexpr Ops give_back{.loads = 1, .updates = 2};

// The free of the last chunk locks the filling by a compare-exchange, loads the chunk size, stores `words` words,
// resets the chunk size by a compare-exchange, and unlocks by a subtraction.
constexpr Ops reset(std::uint64_t words) { return {.loads = 1, .stores = words, .updates = 1, .compare_exchanges = 2}; }

Ops operator+(Ops a, const Ops& b) { return a += b; }

TEST(FlatterScatterFidelity, OneLane) {
  FidelityRig<FlatterScatter> rig(std::size_t{4} << 20);
  const Calls first = rig.counted_malloc({256});
  EXPECT_EQ(first.of_lane[0], begin + take);
  const Calls second = rig.counted_malloc({256});
  // The lane's own bit is taken, so it makes one more OR.
  EXPECT_EQ(second.of_lane[0], begin + take_again + (Ops{.updates = 1}));
  EXPECT_EQ(rig.counted_free(first.blocks).of_lane[0], give_back);
  // Chunks of 16 bytes need 254 words of bits, and 511 chunks of 256 bytes need 16. These 16 words are clear already.
  // So a reset clears the other 238.
  EXPECT_EQ(rig.counted_free(second.blocks).of_lane[0], give_back + reset(254 - 16));
}

// The lanes of a warp share no operation, and each has its own bit.
TEST(FlatterScatterFidelity, AWarp) {
  FidelityRig<FlatterScatter> rig(std::size_t{4} << 20);
  const Calls calls = rig.warp_mallocs(256);
  Ops expected = (begin + take_again) * 32;
  expected.lost -= 1;  // one lane gives the page its size
  EXPECT_EQ(calls.sum(), expected);
  EXPECT_EQ(rig.counted_free(calls.blocks).sum(), give_back * 32 + reset(254 - 16));
}

TEST(FlatterScatterFidelity, AFullPage) {
  FidelityRig<FlatterScatter> rig(three_pages, small_pages);
  for (int i = 0; i < 3; ++i) rig.malloc({64});
  EXPECT_EQ(rig.counted_malloc({64}).of_lane[0], begin + full_page + take);
}

// A request accepts chunks of up to twice its size: 64 bytes accept chunks of 112, and 16 bytes accept chunks of 32.
TEST(FlatterScatterFidelity, APageOfAnotherSize) {
  FidelityRig<FlatterScatter> rig(three_pages, small_pages);
  const std::vector<void*> larger = {rig.malloc({112})[0], rig.malloc({112})[0], rig.malloc({112})[0]};
  void* const other = rig.malloc({32})[0];
  const auto page = [&](const void* block) { return rig.offset(block) / 256; };
  // Two pages have chunks of 112 bytes, and one of them has one left.
  void* const block = rig.malloc({64})[0];
  EXPECT_EQ(rig.offset(block) % 256 % 112, 0);
  EXPECT_NE(page(block), page(other));
  const Calls small = rig.counted_malloc({16});
  EXPECT_EQ(page(small.blocks[0]), page(other));
  // The search may try pages with chunks of 112 bytes first.
  const std::uint64_t in_vain = (small.of_lane[0].updates - 2) / other_page.updates;
  EXPECT_EQ(small.of_lane[0].compare_exchanges, 1 + in_vain);
  EXPECT_EQ(rig.malloc({48})[0], nullptr) << "112 is more than twice 48, 32 is less than 48";
}

TEST(FlatterScatterFidelity, NeighbouringPages) {
  FidelityRig<FlatterScatter> rig(three_pages, small_pages);
  const Calls two = rig.counted_malloc({512});
  // For each page, the request makes a compare-exchange of the filling and an exchange of the chunk size. The heap is
  // empty, so the first try succeeds.
  EXPECT_EQ(two.of_lane[0], begin + (Ops{.updates = 2, .compare_exchanges = 2}));
  // One page is left. A try whose first page is in use fails immediately, and a try whose second page is in use gives
  // the first one back.
  EXPECT_EQ(rig.malloc({300})[0], nullptr);
  EXPECT_NE(rig.malloc({200})[0], nullptr);
  // The free loads the chunk size. For each page, it stores one word of bits, makes a compare-exchange of the chunk
  // size, and subtracts from the filling.
  EXPECT_EQ(rig.allocator.heap().layout.most_words(), 1u);
  EXPECT_EQ(rig.counted_free(two.blocks).of_lane[0],
            (Ops{.loads = 1, .stores = 2, .updates = 2, .compare_exchanges = 2}));
  EXPECT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
}

TEST(FlatterScatterFidelity, AnExhaustedHeap) {
  FidelityRig<FlatterScatter> rig(three_pages, small_pages);
  for (int i = 0; i < 9; ++i) ASSERT_NE(rig.malloc({64})[0], nullptr);
  const Calls calls = rig.counted_malloc({64});
  EXPECT_EQ(calls.blocks[0], nullptr);
  // No page has room. A store lets the next search begin elsewhere.
  EXPECT_EQ(calls.of_lane[0], begin + full_page * 3 + (Ops{.stores = 1}));
}

// The published code has no memory orders. Orders cost no operations.
TEST(FlatterScatterFidelity, OrdersAsPublished) {
  flatter_scatter::Parameters parameters;
  EXPECT_FALSE(parameters.chosen_orders().clearing_releases || parameters.chosen_orders().setting_acquires);
  parameters.bit_orders = "fixed";
  EXPECT_TRUE(parameters.chosen_orders().clearing_releases && parameters.chosen_orders().setting_acquires);
  FidelityRig<FlatterScatter> rig(std::size_t{4} << 20, parameters);
  const Calls calls = rig.counted_malloc({256});
  EXPECT_EQ(calls.of_lane[0], begin + take);
  EXPECT_EQ(rig.counted_free(calls.blocks).of_lane[0], give_back + reset(254 - 16));
}

// The numbers follow from mallocMC's defaults.
TEST(FlatterScatter, PagesAsPublished) {
  const PageLayout layout;
  EXPECT_EQ(layout.chunks(16), 8128u);
  EXPECT_EQ(layout.chunks(64), 2044u);
  EXPECT_EQ(layout.chunks(256), 511u);
  EXPECT_EQ(layout.chunks(1024), 127u);
  EXPECT_EQ(layout.chunks(4096), 31u);
  EXPECT_EQ(layout.multi_page_from(), 65534u);
  EXPECT_EQ(layout.most_words() * 4, 1016u);
  for (std::uint32_t chunk = 16; chunk < layout.multi_page_from(); chunk += 16) {
    const std::uint32_t chunks = layout.chunks(chunk);
    ASSERT_LE(chunks * chunk + 4 * PageLayout::words(chunks), layout.bytes());
    ASSERT_GT((chunks + 1) * chunk + 4 * PageLayout::words(chunks + 1), layout.bytes());
    ASSERT_LE(PageLayout::words(chunks), layout.most_words());
  }
}

TEST(FlatterScatter, HasAccessBlocksOf1023Pages) {
  FidelityRig<FlatterScatter> rig(std::size_t{256} << 20);
  EXPECT_EQ(rig.allocator.heap().blocks, 2u);
  EXPECT_EQ(rig.allocator.heap().pages, 1023u);
  EXPECT_EQ(FlatterScatter::max_request(std::size_t{256} << 20, {}), std::size_t{1023} << 17);
}

}  // namespace
}  // namespace allocbench
