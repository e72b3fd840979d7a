// Measures what Traced<Heap> costs: a million calls (half a million mallocs of 64 B, then their frees) with and without
// records. Prints the median of eleven runs for each of four allocators.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "allocators/comb/comb.hpp"
#include "allocators/gallatin/gallatin.hpp"
#include "allocators/kokkos_memory_pool/kokkos_memory_pool.hpp"
#include "allocators/scatteralloc/scatteralloc_reworked.hpp"
#include "allocbench/traced.hpp"

namespace allocbench {
namespace {

constexpr std::uint32_t threads = 500'000;
constexpr simt::LaunchShape shape{(threads + 255) / 256, 256};
constexpr std::size_t pool_bytes = std::size_t{256} << 20;
constexpr std::size_t runs = 11;

struct Alloc {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void** blocks) const {
    if (thread.rank_in_grid() >= threads) return;
    auto&& session = attach(handle, thread);
    blocks[thread.rank_in_grid()] = session.malloc(thread, 64);
    detach(session, thread);
  }
};

struct Free {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A handle, void** blocks) const {
    if (thread.rank_in_grid() >= threads) return;
    auto&& session = attach(handle, thread);
    session.free(thread, blocks[thread.rank_in_grid()]);
    detach(session, thread);
  }
};

// Returns the median of the two kernels' total time in milliseconds. Calls `end_kernel` after each kernel, outside of
// the measured time.
template <class HeapType, class EndKernel>
double median_of(simt::Stream& stream, HeapType& heap, const EndKernel& end_kernel) {
  simt::Buffer<void*> blocks(threads);
  simt::Event start;
  simt::Event stop;
  std::vector<double> times;
  const auto timed = [&](auto kernel) {
    const auto handle = heap.handle();
    start.record(stream);
    simt::launch(stream, shape, kernel, handle, blocks.data());
    stop.record(stream);
    stop.synchronize();
    end_kernel();
    return 1e3 * simt::Event::seconds_between(start, stop);
  };
  for (std::size_t run = 0; run < runs + 1; ++run) {
    const double both = timed(Alloc{}) + timed(Free{});
    if (run != 0) times.push_back(both);  // the first run loads the kernels
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[runs / 2];
}

template <class A>
void compare(simt::Stream& stream) {
  double plain = 0;
  {
    Heap<A> heap(stream, pool_bytes);
    plain = median_of(stream, heap, [] {});
  }
  Traced<Heap<A>> heap({}, stream, pool_bytes);
  const double traced = median_of(stream, heap, [&] { heap.end_kernel("", shape); });
  std::printf("%-28s %8.3f ms %8.3f ms  x%.2f  %llu lost\n", A::traits.display_name.data(), plain, traced,
              traced / plain, static_cast<unsigned long long>(heap.trace().lost()));
}

}  // namespace
}  // namespace allocbench

int main() try {
  using namespace allocbench;
  simt::Device device(0);
  simt::Stream stream(device);
  std::printf("%-28s %11s %11s\n", "a million calls", "plain", "traced");
  compare<Comb>(stream);
  compare<Gallatin>(stream);
  compare<KokkosMemoryPool>(stream);
  compare<ScatterAllocReworked>(stream);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "trace_cost: %s\n", error.what());
  return 3;
}
