// The conformance suite tests the duties of every back end from one source. conformance.cpp and conformance.cu include
// the same tests. The results of a GPU are the reference for everything that the CUDA manual defines.
//
// Kernels write what they see into buffers. The host compares the buffers with values that it computes by itself.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "simt/simt.hpp"
#if SIMT_RACES
#include "simt/cpu/races.hpp"
#endif
#if !SIMT_CUDA
#include "simt/cpu/search/schedule.hpp"
#endif

namespace simt::conformance {

// Setting is one way to run the suite. The CPU executor has settings for every mode and several seeds. CUDA has one.
struct Setting {
  std::string name;
#if !SIMT_CUDA
  ExecutorOptions options;
#endif
};

inline std::vector<Setting> settings() {
#if SIMT_CUDA
  return {{"cuda"}};
#else
  std::vector<Setting> all;
#if !SIMT_RACES
  ExecutorOptions threads;
  threads.os_threads = 2;
#if defined(__SANITIZE_THREAD__)
  threads.resident_blocks = 4;  // ThreadSanitizer takes 0.7 ms for the first use of a lane
#endif
  all.push_back({"threads", threads});
#if defined(__SANITIZE_THREAD__)
  return all;  // ThreadSanitizer finds races only between OS threads here
#endif
#endif
  ExecutorOptions deterministic;
  deterministic.mode = ExecutorMode::deterministic;
#if SIMT_RACES
  constexpr std::uint64_t last_seed = 2;  // a race hardly depends on the schedule
  deterministic.resident_blocks = 4;      // the first use of a lane takes long
#else
  constexpr std::uint64_t last_seed = 8;
#endif
  for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
    ExecutorOptions random = deterministic;
    random.seed = seed;
    all.push_back({"seed_" + std::to_string(seed), random});
  }
  ExecutorOptions every_atomic = deterministic;
  every_atomic.preemption_interval = 1;
  all.push_back({"preempt_always", every_atomic});
  ExecutorOptions round_robin = deterministic;
  round_robin.strategy = StrategyKind::round_robin;
  round_robin.slice = 1;
  all.push_back({"round_robin", round_robin});
  // The empty script is the default rule alone.
  ExecutorOptions scripted;
  scripted.mode = ExecutorMode::deterministic;
  scripted.strategy = StrategyKind::scripted;
  scripted.script = std::make_shared<const Schedule>();
  all.push_back({"default_rule", scripted});
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    ExecutorOptions searching;
    searching.mode = ExecutorMode::deterministic;
    searching.seed = seed;
    searching.strategy = StrategyKind::pct;
    all.push_back({"pct_" + std::to_string(seed), searching});
    searching.strategy = StrategyKind::lockstep;
    all.push_back({"lockstep_" + std::to_string(seed), searching});
    searching.strategy = StrategyKind::conflicts;
    all.push_back({"conflicts_" + std::to_string(seed), searching});
    searching.strategy = StrategyKind::swarm;
    searching.record = true;
    all.push_back({"recorded_swarm_" + std::to_string(seed), searching});
  }
  return all;
#endif
}

// GoogleTest prints the parameter of a failed case. Without this function, it would print the bytes.
inline void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class Conformance : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (Device::count() == 0) GTEST_SKIP() << "no device";
#if SIMT_CUDA
    device_ = std::make_unique<Device>(0);
#else
    device_ = std::make_unique<Device>(GetParam().options);
#endif
    stream_ = std::make_unique<Stream>(*device_);
  }

#if SIMT_RACES
  void TearDown() override {
    const RaceReport report = take_race_reports();
    EXPECT_TRUE(report.clean()) << report.text();
  }
#endif

  Device& device() { return *device_; }
  Stream& stream() { return *stream_; }

  template <class T>
  Buffer<T> zeros(std::size_t size) {
    Buffer<T> buffer(size);
    buffer.fill_bytes(stream(), 0);
    return buffer;
  }

  // Runs the kernel with `per_thread` words of output for every thread. The words are zero before the launch.
  template <class T = std::uint32_t, class Kernel, class... Args>
  std::vector<T> run(LaunchShape shape, std::size_t per_thread, Kernel kernel, Args... args) {
    auto output = zeros<T>(std::size_t{shape.blocks} * shape.threads_per_block * per_thread);
    launch(stream(), shape, kernel, output.data(), args...);
    return output.to_host(stream());
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

INSTANTIATE_TEST_SUITE_P(Simt, Conformance, ::testing::ValuesIn(settings()),
                         [](const ::testing::TestParamInfo<Setting>& setting) { return setting.param.name; });

// These masks are full, half, sparse, irregular, single-lane and all but one lane. A test splits a warp by one of them,
// so the complement of the mask is tested as well.
inline constexpr LaneMask masks[] = {full_warp, 0x0000ffffu, 0x80000001u, 0x5a5a1234u, 0x00000100u, 0xfffffffeu};

// Returns the members of the group of `lane` after such a split.
inline LaneMask side_of(LaneMask mask, std::uint32_t lane) { return (mask >> lane & 1) != 0 ? mask : ~mask; }
inline LaneMask below(std::uint32_t lane) { return (LaneMask{1} << lane) - 1; }

}  // namespace simt::conformance
