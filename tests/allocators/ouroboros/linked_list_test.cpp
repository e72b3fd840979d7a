// These tests check that the head of a linked queue moves past two neighbouring segments that two lanes consume at the
// same time. A lane may read the old value of a node, without the mark that the other lane has set (late_reader.hpp).
#include "allocators/ouroboros/linked_list.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/late_reader.hpp"

namespace allocbench {
namespace {

using ouroboros::LinkedList;

// In ConsumeNeighbours, segments 0, 1 and 2 are queued in the chunks 0, 1 and 2. Segment 0 gets the mark "consumed", as
// if from another lane. The lane of the kernel does not see this mark when it consumes segment 1.
struct ConsumeNeighbours {
  template <class Thread>
  void operator()(Thread& thread, LinkedList list, LinkedList::ClassState* state) const {
    constexpr std::uint32_t slots_log = 5;
    list.add_first(thread, *state, 0, 0);
    list.append(thread, *state, 0, 1, slots_log);
    list.append(thread, *state, 0, 2, slots_log);
    const std::uint64_t unmarked = thread.atomic(list.nodes[0]).fetch_or(LinkedList::consumed, simt::acq_rel);
    testing::LateReader<Thread, std::uint64_t> late(thread, list.nodes[0], unmarked);
    list.recycle(late, *state, 0, 1, 1, slots_log);
  }
};

TEST(LinkedList, TheHeadPassesAMarkThatALoadDoesNotShow) {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  simt::Device device(options);
  simt::Stream stream(device);
  simt::Buffer<std::uint64_t> nodes(3);
  simt::Buffer<LinkedList::ClassState> state(1);
  state.fill_bytes(stream, 0);
  LinkedList list;
  list.nodes = nodes.data();
  simt::launch(stream, {1, 1}, ConsumeNeighbours{}, list, state.data());
  const LinkedList::ClassState after = state.to_host(stream)[0];
  EXPECT_EQ(LinkedList::segment_of(after.head), 2u);
  EXPECT_EQ(LinkedList::chunk_of(after.head), 2u);
  EXPECT_EQ(LinkedList::segment_of(after.tail), 4u) << "the chunks of both segments are queued again";
}

}  // namespace
}  // namespace allocbench
