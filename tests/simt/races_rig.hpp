// The tests of the race build share this rig: a launch, and the reports of its races.
#pragma once

#include <gtest/gtest.h>

#include "simt/cpu/races.hpp"
#include "simt/simt.hpp"
#include "tests/simt/deterministic.hpp"

namespace simt::test {

// Launches the kernel and returns its races. The kernel's first argument is device memory of 64 zeros.
template <class Kernel>
RaceReport races_of(const ExecutorOptions& options, LaunchShape shape, Kernel kernel) {
  Device device(options);
  Stream stream(device);
  Buffer<std::uint32_t> words(64);
  words.fill_bytes(stream, 0);
  take_race_reports();
  try {
    launch(stream, shape, kernel, words.data());
  } catch (const Fault& fault) {
    EXPECT_NE(fault.kind(), FaultKind::environment) << fault.what();
  }
  words.to_host(stream);
  return take_race_reports();
}

}  // namespace simt::test
