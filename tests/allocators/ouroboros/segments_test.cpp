// Ouroboros, queues kept in chunks: how many chunks of the pool they may take.
#include <gtest/gtest.h>

#include "tests/allocators/churn.hpp"
#include "tests/allocators/ouroboros/variants.hpp"
#include "tests/allocators/shared_cases.hpp"

namespace allocbench {
namespace {

using namespace ouroboros;
using testing::Rig;
using Queue = SegmentedQueue<ArrayHierarchy>;

// Chunks of 64 bytes have 16 slots, and there are three classes, so two segments are not the class's.
TEST(OuroborosSegments, AreAsManyAsAllOtherChunksNeed) {
  ChunkSpace space;
  space.chunk_log = 6;
  const struct {
    std::uint32_t chunks, indices_per_chunk, segments;
  } rows[] = {
      {37, 1, 3},  // 32 chunks of pages fill two segments, and one more is always there
      {36, 1, 3},  // 31
      {20, 1, 2},  // 16
      {21, 1, 3},  // 17 would need three segments, 16 leave a chunk that nothing else can use
      {37, 4, 8},  // 27 chunks have 108 indices: seven segments, and one
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

// Each group asks for chunks before it knows that others take the last ones.
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
