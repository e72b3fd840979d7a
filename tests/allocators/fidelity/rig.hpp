// FidelityRig counts the operations of every lane's malloc and free on shared words. Tests compare these counts with
// numbers worked out by hand from the paper's algorithm.
//
//   FidelityRig<CFMalloc> rig(64 * 1024);
//   const Calls mallocs = rig.counted_malloc({100});
//   EXPECT_EQ(mallocs.of_lane[0], (Ops{.loads = 1, .stores = 3, .updates = 1}));
//
// The counts come from simt::CountingThread. By default, warps advance in lock step, call by call. Lanes that call
// converged() together form one group. Lanes of a warp that change one word do so one after the other, in an order
// drawn from the seed. attach() and detach() are not counted. The device heap of the back end is not counted either.
#pragma once

#include <ostream>
#include <vector>

#include "simt/counting.hpp"
#include "tests/allocators/harness.hpp"

namespace allocbench::testing {

// Ops are numbers of operations on shared words.
struct Ops {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t updates = 0;            // read-modify-writes other than compare-exchanges
  std::uint64_t compare_exchanges = 0;  // compare-exchanges that were won or lost
  std::uint64_t lost = 0;               // compare-exchanges that were lost

  bool operator==(const Ops&) const = default;
  Ops& operator+=(const Ops& other) {
    loads += other.loads;
    stores += other.stores;
    updates += other.updates;
    compare_exchanges += other.compare_exchanges;
    lost += other.lost;
    return *this;
  }
  // Returns the operations of `times` equal calls.
  Ops operator*(std::uint64_t times) const {
    return {loads * times, stores * times, updates * times, compare_exchanges * times, lost * times};
  }
  friend std::ostream& operator<<(std::ostream& stream, const Ops& ops) {
    return stream << ops.loads << " loads, " << ops.stores << " stores, " << ops.updates << " updates, "
                  << ops.compare_exchanges << " compare-exchanges (" << ops.lost << " lost)";
  }
};

// Calls has one call of each thread.
struct Calls {
  std::vector<Ops> of_lane;
  std::vector<void*> blocks;  // results of mallocs

  Ops sum() const {
    Ops all;
    for (const Ops& each : of_lane) all += each;
    return all;
  }
};

struct CountMallocs {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, const std::uint64_t* sizes, void** blocks,
                          simt::OperationCounts* counts, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    auto&& session = attach(allocator, thread);
    simt::CountingThread<Thread> counting(thread);
    blocks[i] = session.malloc(counting, sizes[i]);
    counts[i] = counting.counts();
    detach(session, thread);
  }
};

struct CountFrees {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, void** blocks, simt::OperationCounts* counts,
                          std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    auto&& session = attach(allocator, thread);
    simt::CountingThread<Thread> counting(thread);
    session.free(counting, blocks[i]);
    counts[i] = counting.counts();
    detach(session, thread);
  }
};

// CountReleases lets every thread declare that its blocks are dead, for designs that free in bulk.
struct CountReleases {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, simt::OperationCounts* counts, std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    auto&& session = attach(allocator, thread);
    simt::CountingThread<Thread> counting(thread);
    allocbench::release_all(session, counting);
    counts[i] = counting.counts();
    detach(session, thread);
  }
};

template <class A>
class FidelityRig : public Rig<A> {
 public:
  explicit FidelityRig(std::size_t pool_bytes, typename A::Parameters parameters = {}, std::uint64_t seed = 1,
                       std::uint32_t sm_count = 1, simt::StrategyKind strategy = simt::StrategyKind::lockstep)
      : Rig<A>(pool_bytes, parameters, seed, sm_count, strategy) {}

  // Each thread makes one request.
  Calls counted_malloc(const std::vector<std::uint64_t>& sizes, std::uint32_t threads_per_block = 32) {
    simt::Buffer<std::uint64_t> requests(sizes.size());
    requests.from_host(this->stream(), sizes);
    simt::Buffer<void*> blocks(sizes.size());
    Calls calls = launch(sizes.size(), threads_per_block, [&](auto shape, auto* counts, std::uint32_t count) {
      simt::launch(this->stream(), shape, CountMallocs{}, this->allocator,
                   static_cast<const std::uint64_t*>(requests.data()), blocks.data(), counts, count);
    });
    calls.blocks = blocks.to_host(this->stream());
    return calls;
  }
  // Each lane of a full warp requests `bytes`.
  Calls warp_mallocs(std::uint64_t bytes) { return counted_malloc(std::vector<std::uint64_t>(32, bytes)); }

  Calls counted_free(const std::vector<void*>& blocks, std::uint32_t threads_per_block = 32) {
    simt::Buffer<void*> device_blocks(blocks.size());
    device_blocks.from_host(this->stream(), blocks);
    return launch(blocks.size(), threads_per_block, [&](auto shape, auto* counts, std::uint32_t count) {
      simt::launch(this->stream(), shape, CountFrees{}, this->allocator, device_blocks.data(), counts, count);
    });
  }

  Calls counted_release(std::uint32_t threads, std::uint32_t threads_per_block = 32) {
    return launch(threads, threads_per_block, [&](auto shape, auto* counts, std::uint32_t count) {
      simt::launch(this->stream(), shape, CountReleases{}, this->allocator, counts, count);
    });
  }

 private:
  template <class Launch>
  Calls launch(std::size_t threads, std::uint32_t threads_per_block, const Launch& launch) {
    simt::Buffer<simt::OperationCounts> counts(threads);
    const auto count = static_cast<std::uint32_t>(threads);
    const simt::LaunchShape shape{(count + threads_per_block - 1) / threads_per_block, threads_per_block};
    launch(shape, counts.data(), count);
    Calls calls;
    for (const simt::OperationCounts& each : counts.to_host(this->stream())) {
      calls.of_lane.push_back({each.loads, each.stores, each.updates, each.compare_exchanges, each.lost_exchanges});
    }
    return calls;
  }
};

}  // namespace allocbench::testing
