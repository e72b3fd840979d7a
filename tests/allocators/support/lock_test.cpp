// These tests check which earlier actions of other lanes a lane sees when it takes a TicketLock.
#include "allocators/support/common/lock.hpp"

#include <gtest/gtest.h>

#include "tests/allocators/late_reader.hpp"

namespace allocbench {
namespace {

// In LockLate, the owner of ticket 2 has left and ticket 3 is served, but the first load still returns 2.
struct LockLate {
  template <class Thread>
  void operator()(Thread& thread, TicketLock* lock, std::uint32_t* on_arrival) const {
    testing::LateReader<Thread, std::uint32_t> late(thread, lock->serving, 2, 1);
    const auto group = thread.converged();
    *on_arrival = lock->lock(late, group).on_arrival;
    lock->unlock(thread, group);
  }
};

// Lanes of halloc and scatteralloc share the result of a failed search. A search that began before this lane freed a
// block must not make the lane give up. So the lane must know that ticket 2 is not served any more.
TEST(TicketLock, AnArrivalSeesWhoIsServedThoughALoadShowsTheOneBefore) {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  simt::Device device(options);
  simt::Stream stream(device);
  simt::Buffer<TicketLock> lock(1);
  lock.from_host(stream, std::vector<TicketLock>{{.next_ticket = 3, .serving = 3}});
  simt::Buffer<std::uint32_t> on_arrival(1);
  simt::launch(stream, {1, 1}, LockLate{}, lock.data(), on_arrival.data());
  EXPECT_EQ(on_arrival.to_host(stream)[0], 3u);
  EXPECT_EQ(lock.to_host(stream)[0].serving, 4u);
}

}  // namespace
}  // namespace allocbench
