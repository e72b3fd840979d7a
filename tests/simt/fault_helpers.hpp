// The tests of undefined use share these helpers. They run a kernel on the CPU executor and check the fault with which
// it must end.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simt/simt.hpp"
#include "tests/simt/deterministic.hpp"

namespace simt::faults {

using test::deterministic;

// Returns the modes in which every diagnosis must appear.
inline std::vector<ExecutorOptions> all_modes() {
  ExecutorOptions threads;
  threads.os_threads = 2;
  std::vector<ExecutorOptions> all{threads};
#if defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t last_seed = 1;  // ThreadSanitizer takes milliseconds to create a lane
#else
  constexpr std::uint64_t last_seed = 8;
#endif
  for (std::uint64_t seed = 1; seed <= last_seed; ++seed) all.push_back(deterministic(seed));
  return all;
}

struct Outcome {
  bool faulted = false;
  FaultKind kind{};
  std::string text;
};

// Launches the kernel. The kernel's first argument is device memory of `words` zeros.
template <class Kernel>
Outcome outcome_of_launch(Device& device, LaunchShape shape, Kernel kernel, std::size_t words) {
  Stream stream(device);
  Buffer<std::uint32_t> memory(words);
  memory.fill_bytes(stream, 0);
  try {
    launch(stream, shape, kernel, memory.data());
  } catch (const Fault& fault) {
    return {true, fault.kind(), fault.what()};
  }
  return {};
}
template <class Kernel>
Outcome outcome_of(const ExecutorOptions& options, LaunchShape shape, Kernel kernel, std::size_t words = 1) {
  Device device(options);
  return outcome_of_launch(device, shape, kernel, words);
}

// Expects a fault of this kind in each mode. Its text must contain every one of the parts.
template <class Kernel>
void expect_fault(LaunchShape shape, Kernel kernel, FaultKind kind, const std::vector<std::string>& parts) {
  for (const ExecutorOptions& options : all_modes()) {
    SCOPED_TRACE("seed " + std::to_string(options.seed));
    const Outcome outcome = outcome_of(options, shape, kernel);
    ASSERT_TRUE(outcome.faulted);
    EXPECT_EQ(static_cast<int>(outcome.kind), static_cast<int>(kind)) << outcome.text;
    for (const std::string& part : parts) {
      EXPECT_NE(outcome.text.find(part), std::string::npos) << "no '" << part << "' in\n" << outcome.text;
    }
  }
}

}  // namespace simt::faults
