// Measures how fast the CPU executor searches: the atomics per second of one core, for several numbers of lanes and
// preemption intervals.
//
// The goal is at least 20 million atomics per second with 256 lanes and a random preemption at every atomic. This speed
// decides how many seeds (schedules) `allocbench check` can try in a given time. preempted_atomics_races is the same
// program in the race build, for ThreadSanitizer.
#include <benchmark/benchmark.h>

#include "simt/simt.hpp"

namespace {

constexpr std::uint32_t atomics_per_lane = 2000;

// Every lane adds to its own word, so the benchmark measures the scheduler and not the transfer of cache lines.
struct AddAlone {
  template <class Thread>
  void operator()(Thread& thread, std::uint32_t* words) const {
    auto word = thread.atomic(words[thread.rank_in_grid()]);
    for (std::uint32_t i = 0; i < atomics_per_lane; ++i) word.fetch_add(1u, simt::relaxed);
  }
};

void measure(benchmark::State& state, const simt::ExecutorOptions& options) {
  const auto lanes = static_cast<std::uint32_t>(state.range(0));
  simt::Device device(options);
  simt::Stream stream(device);
  simt::Buffer<std::uint32_t> words(lanes);
  words.fill_bytes(stream, 0);
  std::uint64_t steps = 0;
  std::uint64_t switches = 0;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    simt::launch(stream, {lanes / 32, 32}, AddAlone{}, words.data());
    steps += device.last_launch().steps;
    switches += device.last_launch().switches;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(steps));
  state.counters["switches_per_atomic"] = static_cast<double>(switches) / static_cast<double>(steps);
}

void preempted_atomics(benchmark::State& state) {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  options.preemption_interval = static_cast<std::uint32_t>(state.range(1));
  options.resident_blocks = static_cast<std::uint32_t>(state.range(0)) / 32;
  measure(state, options);
}
BENCHMARK(preempted_atomics)
    ->ArgNames({"lanes", "interval"})
    ->ArgsProduct({{32, 256, 2048}, {1, 4, 16, 64}})
    ->Unit(benchmark::kMillisecond);

#if !SIMT_RACES
// Measures the same atomics in threads mode, on one OS thread.
void sliced_atomics(benchmark::State& state) {
  simt::ExecutorOptions options;
  options.os_threads = 1;
  measure(state, options);
}
BENCHMARK(sliced_atomics)->ArgName("lanes")->Arg(32)->Arg(256)->Arg(2048)->Unit(benchmark::kMillisecond);
#endif

}  // namespace

BENCHMARK_MAIN();
