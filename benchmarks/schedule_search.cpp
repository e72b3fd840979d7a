// Measures the time that the CPU executor needs for one seed (one schedule). Also measures how many of a thousand seeds
// expose each of five planted bugs (tests/simt/bug_zoo.hpp), for several strategies.
//
// The fixed cost per seed should be less than 100 µs, so that 10,000 seeds cost less than one second. The strategy
// `swarm` draws one of several strategies for each launch. A strategy must stay among them if it finds a bug that the
// others do not find.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "simt/simt.hpp"
#include "tests/simt/bug_zoo.hpp"

namespace {

simt::ExecutorOptions searching(simt::StrategyKind strategy) {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  options.strategy = strategy;
  options.step_budget = 100'000;
  return options;
}

// Runs one seed: restart, buffer, launch. Returns whether the bug appeared.
template <class Kernel>
bool run_seed(simt::Device& device, const simt::ExecutorOptions& options, std::uint32_t lanes, Kernel kernel) {
  device.restart(options);
  simt::Stream stream(device);
  simt::Buffer<std::uint32_t> words(simt::zoo::word_count);
  words.fill_bytes(stream, 0);
  try {
    simt::launch(stream, {1, lanes}, kernel, words.data());
  } catch (const simt::Fault& fault) {
    if (fault.kind() == simt::FaultKind::failed_check) return true;
    throw;
  }
  return false;
}

struct Nothing {
  template <class Thread>
  void operator()(Thread&, std::uint32_t*) const {}
};

// Measures a restart and the launch of an empty kernel.
void fixed_cost_of_a_seed(benchmark::State& state) {
  auto options = searching(simt::StrategyKind::swarm);
  simt::Device device(options);
  for (auto iteration : state) {
    static_cast<void>(iteration);
    ++options.seed;
    run_seed(device, options, static_cast<std::uint32_t>(state.range(0)), Nothing{});
  }
}
BENCHMARK(fixed_cost_of_a_seed)->ArgName("lanes")->Arg(1)->Arg(4)->Arg(32)->Arg(64)->Unit(benchmark::kMicrosecond);

// Measures the launch of an empty kernel on a new device for every seed.
void new_device_of_a_seed(benchmark::State& state) {
  auto options = searching(simt::StrategyKind::swarm);
  for (auto iteration : state) {
    static_cast<void>(iteration);
    ++options.seed;
    simt::Device device(options);
    simt::Stream stream(device);
    simt::Buffer<std::uint32_t> words(simt::zoo::word_count);
    simt::launch(stream, {1, static_cast<std::uint32_t>(state.range(0))}, Nothing{}, words.data());
  }
}
BENCHMARK(new_device_of_a_seed)->ArgName("lanes")->Arg(4)->Arg(64)->Unit(benchmark::kMicrosecond);

// Measures a restart and the buffer of a pool. The executor fills the buffer with its pattern of fresh memory.
void pool_of_a_seed(benchmark::State& state) {
  auto options = searching(simt::StrategyKind::swarm);
  simt::Device device(options);
  for (auto iteration : state) {
    static_cast<void>(iteration);
    ++options.seed;
    device.restart(options);
    const simt::Buffer<std::byte> pool(static_cast<std::size_t>(state.range(0)) * 1024);
    benchmark::DoNotOptimize(pool.data());
  }
}
BENCHMARK(pool_of_a_seed)->ArgName("KiB")->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

struct Policy {
  const char* name;
  simt::ExecutorOptions options;
};

std::vector<Policy> policies() {
  std::vector<Policy> all;
  for (const std::uint32_t interval : {1u, 4u, 16u, 64u}) {
    static constexpr const char* names[] = {"random_1", "random_4", "random_16", "random_64"};
    all.push_back({names[interval == 1    ? 0
                         : interval == 4  ? 1
                         : interval == 16 ? 2
                                          : 3],
                   searching(simt::StrategyKind::random)});
    all.back().options.preemption_interval = interval;
  }
  for (const std::uint32_t depth : {2u, 3u, 4u}) {
    static constexpr const char* names[] = {"pct_2", "pct_3", "pct_4"};
    all.push_back({names[depth - 2], searching(simt::StrategyKind::pct)});
    all.back().options.pct_depth = depth;
  }
  all.push_back({"round_robin_1", searching(simt::StrategyKind::round_robin)});
  all.back().options.slice = 1;
  all.push_back({"lockstep", searching(simt::StrategyKind::lockstep)});
  all.push_back({"swarm", searching(simt::StrategyKind::swarm)});
  return all;
}

// One iteration runs a thousand seeds.
template <class Kernel>
void rate(benchmark::State& state, simt::ExecutorOptions options, std::uint32_t lanes, Kernel kernel) {
  constexpr std::uint32_t seeds = 1000;
  simt::Device device(options);
  std::uint32_t found = 0;
  std::uint64_t steps = 0;
  std::uint64_t runs = 0;
  for (auto iteration : state) {
    static_cast<void>(iteration);
    found = 0;
    for (options.seed = 1; options.seed <= seeds; ++options.seed) {
      found += run_seed(device, options, lanes, kernel);
      steps += device.last_launch().steps;
      ++runs;
    }
  }
  state.counters["found_percent"] = 100.0 * found / seeds;
  state.counters["steps"] = static_cast<double>(steps) / static_cast<double>(runs);
  state.counters["seeds_per_second"] = benchmark::Counter(static_cast<double>(runs), benchmark::Counter::kIsRate);
}

template <class Kernel>
void register_bug(const std::string& name, std::uint32_t lanes, Kernel kernel) {
  for (const Policy& policy : policies()) {
    benchmark::RegisterBenchmark(
        (name + "/" + std::to_string(lanes) + "/" + policy.name).c_str(),
        [options = policy.options, lanes, kernel](benchmark::State& state) { rate(state, options, lanes, kernel); })
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_bug("lost_update", 2, simt::zoo::LostUpdate{});
  register_bug("early_unlock", 2, simt::zoo::EarlyUnlock{});
  register_bug("early_unlock", 4, simt::zoo::EarlyUnlock{});
  register_bug("aba_stack", 4, simt::zoo::AbaStack{});
  register_bug("aba_stack", 32, simt::zoo::AbaStack{});
  register_bug("recycled_page", 4, simt::zoo::RecycledPage{});
  register_bug("recycled_page", 32, simt::zoo::RecycledPage{});
  register_bug("trusts_whole_warp", 32, simt::zoo::TrustsWholeWarp{});
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
