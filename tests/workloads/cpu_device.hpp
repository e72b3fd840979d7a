// This file makes a CPU device with a stream. A seed determines the schedule, so every test can be repeated.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::test {

struct CpuDevice {
  explicit CpuDevice(std::uint64_t seed = 7, std::uint32_t sms = 4) : device(options(seed, sms)) {}

  static simt::ExecutorOptions options(std::uint64_t seed, std::uint32_t sms) {
    simt::ExecutorOptions result;
    result.mode = simt::ExecutorMode::deterministic;
    result.seed = seed;
    result.sm_count = sms;
    return result;
  }

  simt::Device device;
  simt::Stream stream{device};
};

}  // namespace allocbench::test
