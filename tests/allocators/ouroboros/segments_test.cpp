// These tests check how many chunks of the pool the queues of Ouroboros may take.
#include <gtest/gtest.h>

#include "tests/allocators/churn.hpp"
#include "tests/allocators/ouroboros/variants.hpp"
#include "tests/allocators/shared_cases.hpp"

namespace allocbench {
namespace {

using namespace ouroboros;
using testing::Rig;
using Queue = SegmentedQueue<ArrayHierarchy>;

// Chunks of 64 bytes have 16 slots. Besides the tested class, there are two classes with a segment of one chunk each.
TEST(OuroborosSegments, AreAsManyAsAllOtherChunksNeed) {
  ChunkSpace space;
  space.chunk_log = 6;
  const struct {
    std::uint32_t chunks, indices_per_chunk, segments;
  } rows[] = {
      {37, 1, 3},  // 32 chunks of pages fill two segments, and one more always exists
      {36, 1, 3},  // 31 chunks of pages
      {20, 1, 2},  // 16 chunks of pages
      {21, 1, 3},  // 17 chunks would need three segments; with 16, one chunk has no other use
      {37, 4, 8},  // 27 chunks have 108 indices: seven segments, and one more
      {5, 1, 2},  {5, 4, 2},
  };
  for (const auto& row : rows) {
    space.pool.chunk_count = row.chunks;
    EXPECT_EQ(Queue::segments_for_all_chunks(space, row.indices_per_chunk), row.segments)
        << row.chunks << " chunks, " << row.indices_per_chunk << " indices each";
  }
}

template <class A>
class OuroborosSegmentsTest : public ::testing::Test {};
TYPED_TEST_SUITE(OuroborosSegmentsTest, SegmentedVariants);

// Each group requests chunks before it knows that other groups take the last ones.
TYPED_TEST(OuroborosSegmentsTest, NoCrowdMakesTheQueueLongerForGood) {
  for (std::uint64_t seed = 1; seed <= testing::seeds(40); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto small = small_heap<TypeParam>();
    Rig<TypeParam> rig(small.pool_bytes, small.parameters, seed);
    testing::ChurnSetting setting;
    setting.shape = {1, 32};
    setting.rounds = 26;
    setting.slots = 400;
    setting.sizes = {16};
    ASSERT_EQ(testing::churn(rig.allocator, rig.stream(), seed, setting).broken, 0u);
    const auto& heap = rig.allocator.heap();
    const auto& space = heap.space;
    const std::uint32_t per_chunk = heap.chunk_based ? 1 : 1u << space.pages_log(0);
    const auto state = copy_table(rig.stream(), heap.classes, 1)[0].storage;
    EXPECT_LE(state.segments, heap.storage.segments_for_all_chunks(space, per_chunk));
    ASSERT_EQ(rig.allocator.broken_invariant(rig.stream()), "");
  }
}

}  // namespace
}  // namespace allocbench
